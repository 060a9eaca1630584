"""One request and its answer: uvicorn's, which can also write a whole answer at once."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

WHOLE = "toolspan.whole"
"""The key of an ASGI scope that holds ``Cycle.whole``."""

_MOST_WHOLE = 65_536


class Cycle(RequestResponseCycle):
    """An ASGI request: ``receive``, ``send``, and ``whole`` for the most frequent answer."""

    def whole(self, body: bytes) -> bool:
        """Answer 200 with JSON, in one write; false when this has to go through ``send``."""
        if (
            self.response_started
            or not self.keep_alive
            or self.flow.write_paused
            or self.disconnected
            or len(body) > _MOST_WHOLE
        ):
            return False
        self.response_started = self.response_complete = True
        head = b"".join([name + b": " + value + b"\r\n" for name, value in self.default_headers])
        self.transport.write(
            b"HTTP/1.1 200 OK\r\n%scontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
            % (head, len(body), body)
        )
        self.message_event.set()
        self.on_response()
        return True
