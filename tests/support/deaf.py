"""A client of HTTP+SSE that reads nothing of its stream but where to post."""

from __future__ import annotations

import json
from typing import Any, Self

from tests.support.raw_http import Answer, RawClient, request
from tests.support.served import INITIALIZE, INITIALIZED

_JSON = ("content-type", "application/json")
_EVENTS = ("accept", "text/event-stream")


class DeafClient:
    """Two connections: a stream that fills, and one that posts. The handshake is done."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.stream = RawClient(address, receive_buffer=4_096).send(request("GET", "/sse", _EVENTS))
        self._address = address
        self._endpoint = self.stream.line(b"data: ").removeprefix(b"data: ").decode()
        self._poster = RawClient(address)
        assert [self.post(each).status for each in (INITIALIZE, INITIALIZED)] == [202, 202]

    def post(self, message: dict[str, Any]) -> Answer:
        """The answer to a post of ``message``."""
        posted = request("POST", self._endpoint, _JSON, body=json.dumps(message).encode())
        answer = self._poster.send(posted).answer()
        if answer.headers.get("connection") == "close":
            self._poster.close()
            self._poster = RawClient(self._address)
        return answer

    def close(self) -> None:
        """Leave."""
        self.stream.close()
        self._poster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
