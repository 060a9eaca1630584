"""One HTTP connection: uvicorn's, with limits on what a client sends and on how long it takes.

A deadline concerns what the client owes (the head of a request, its body, the next request, taking its
answer), never how long an answer takes. What the parser lets through and HTTP does not want is refused:
trailers never become headers, another version, an absolute target, an encoded body.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import httptools
import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ._cycle import WHOLE, Cycle
from ._outwards import Outwards
from .guard import App, Refused

if TYPE_CHECKING:
    from uvicorn.server import ServerState

    from ..config import LimitsConfig

_NOTHING, _HEAD, _BODY = range(3)
_LEAST_TAKEN = 65_536
_PARTING_S = 1.0
_MOST_PARTING = 64
_MOST_WAITING = 64
_MOST_LOGGED = 10
_VERSIONS = frozenset({"1.0", "1.1"})
_CROWDED = Refused(429, f"Too much waits on this connection: at most {_MOST_WAITING} requests may")
_UNREADABLE = Refused(400, "This is no HTTP/1.1 request")


class Settings(uvicorn.Config):
    """uvicorn's settings, and what every connection needs to know."""

    def __init__(self, app: App, limits: LimitsConfig) -> None:
        super().__init__(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
        )
        self.limits = limits
        self.parting: set[Connection] = set()
        self.on_refused: Callable[[Refused], None] = _nobody
        self._logger = logging.getLogger("uvicorn.error")
        self._logged, self._logged_since = 0, 0.0

    def log(self, now: float, text: str) -> None:
        """Log a line of trouble with a client, of which a flood of them leaves ten a second."""
        if now - self._logged_since >= 1:
            self._logged, self._logged_since = 0, now
        self._logged += 1
        if self._logged < _MOST_LOGGED:
            self._logger.warning(text)
        elif self._logged == _MOST_LOGGED:
            self._logger.warning("%s; what follows within this second is not logged", text)


class Connection(HttpToolsProtocol):
    """The protocol that uvicorn makes for each connection."""

    parser: httptools.HttpRequestParser

    def __init__(
        self,
        config: Settings,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._settings = config
        self._limits = config.limits
        self._parting = config.parting
        self._owes = _HEAD
        self._due: float | None = None
        self._messages = self._size = self._unparsed = 0
        self._taken = 0
        self._taking_due: float | None = None
        self._answering: RequestResponseCycle | None = None
        self._last: bytes | None = None
        self.parted = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        self._wire = transport
        self._outwards = Outwards(transport, self)
        super().connection_made(self._outwards)
        self._due = self.loop.time() + self._limits.head_seconds
        most = self._limits.connections
        if len(self.connections) - len(self._parting) > most:
            self._refuse(Refused(503, f"This server takes {most} connections at once (limits.connections)"))

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._parting.discard(self)
        self._due = None
        if self._answering is not None:
            self._abandon(self._answering)
        self.pipeline.clear()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self.parted or self._last is not None:
            self._unparsed += len(data)
            if self._unparsed > self._most_in_a_body:
                self._wire.abort()
            return
        owed, message = self._owes, self._messages
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._decline(data[offer.args[0] :])
            return
        except httptools.HttpParserError as fault:
            cause = fault.__context__
            self._refuse(cause.refused if isinstance(cause, _Unfit) else _UNREADABLE)
            return
        if owed and owed == self._owes and message == self._messages:
            self._unparsed += len(data)
            if owed == _HEAD and self._unparsed > self._limits.header_bytes:
                self._refuse(self._head_too_large())
            elif self._unparsed > self._most_in_a_body:
                self._refuse(self._body_too_large())

    def _decline(self, rest: bytes) -> None:
        """Read the request again without its offer of another protocol, which may be ignored (RFC 9110, 7.8).

        The parser would take its body for that protocol's first bytes.
        """
        kept = [line for line in self.headers if line[0] not in (b"upgrade", b"connection")]
        version = self.parser.get_http_version().encode()
        line = b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)
        head = b"\r\n".join([line, *(b"%s: %s" % each for each in kept), b"", b""])
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(head + rest)

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._messages:
            self._due = self.loop.time() + self._limits.head_seconds
        self._messages += 1
        self._owes = _HEAD
        self._size = self._unparsed = 0

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        if self._owes == _BODY:
            return  # a trailer
        name, value = name.lower(), value.strip(b" \t")  # RFC 9110, 5.5: what surrounds a value is none of it
        self.headers.append((name, value))
        self._size += len(name) + len(value) + 4
        limits = self._limits
        if self._size > limits.header_bytes or len(self.headers) > limits.headers:
            raise _Unfit(self._head_too_large())
        if name == b"content-length":
            if int(value) > limits.message_bytes:
                raise _Unfit(self._body_too_large())
        elif name == b"transfer-encoding":
            if value.strip().lower() != b"chunked":
                raise _Unfit(Refused(400, "Transfer-Encoding must be chunked"))
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"

    @override
    def on_headers_complete(self) -> None:
        if self.parser.get_http_version() not in _VERSIONS:
            raise _Unfit(Refused(505, "HTTP/1.1 is spoken here"))
        if not self.url.startswith(b"/"):
            raise _Unfit(Refused(400, "The target of a request must be a path"))
        if self._size + len(self.url) > self._limits.header_bytes:
            raise _Unfit(self._head_too_large())
        if len(self.pipeline) >= _MOST_WAITING:
            raise _Unfit(_CROWDED)
        if self.parser.should_upgrade():
            return
        self._begin()
        self._owes = _BODY
        self._due = self.loop.time() + self._limits.body_seconds
        self._size = self._unparsed = 0

    def _begin(self) -> None:
        """Have the request answered, once those before it on this connection are."""
        raw_path, _, query = self.url.partition(b"?")
        version = self.parser.get_http_version()
        self.scope["http_version"] = version
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["path"] = (
            unquote(raw_path.decode("ascii")) if b"%" in raw_path else raw_path.decode("ascii")
        )
        self.scope["raw_path"] = raw_path
        self.scope["query_string"] = query
        before, app = cast("RequestResponseCycle | None", self.cycle), cast("Any", self).app
        self.cycle = cycle = Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        cast("dict[str, Any]", self.scope)[WHOLE] = cycle.whole
        if before is None or before.response_complete:
            self._start_asgi_task(cycle, app)
        else:  # Reading goes on, or nobody would notice when the client leaves.
            self.pipeline.appendleft((cycle, app))

    @override
    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > self._limits.message_bytes:
            raise _Unfit(self._body_too_large())
        super().on_body(body)
        if self.pipeline and sum(len(cycle.body) for cycle, _ in self.pipeline) > self._limits.message_bytes:
            raise _Unfit(_CROWDED)

    @override
    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        super().on_message_complete()
        self._owes = _NOTHING
        self._due = None if self._answering is not None else self.loop.time() + self._limits.idle_seconds

    @override
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        task = self.loop.create_task(self._answer(cycle, app))
        self.tasks.add(task)

    async def _answer(self, cycle: RequestResponseCycle, app: Any) -> None:
        try:
            await cycle.run_asgi(app)
        finally:
            self.tasks.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    @override
    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        self._answering = None
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self.flow.resume_reading()
        if self._last is not None:
            self._part(self._last)
        elif self._owes == _NOTHING:
            self._due = self.loop.time() + self._limits.idle_seconds

    def check(self, now: float) -> None:
        """Hold the client to what it owes by ``now``, the loop's time."""
        left = self._wire.get_write_buffer_size()
        if left or self._taking_due is not None:
            self._check_taking(now, left)
        if self._due is None or now < self._due:
            return
        if self.flow.read_paused:
            self._due = now + self._limits.body_seconds
        elif self.parted:
            self._wire.abort()
        elif self._owes == _NOTHING or not self._messages:
            self._wire.close()
        else:
            self._refuse(self._too_late())

    def close(self) -> None:
        """Close when all is written; a client that still sends its body may first read the answer."""
        if self._owes == _BODY:
            self._part(b"")
        else:
            self._wire.close()

    def _check_taking(self, now: float, left: int) -> None:
        taken = self._outwards.written - left
        if not left:
            self._taking_due = None
        elif self._taking_due is None or taken - self._taken >= _LEAST_TAKEN:
            self._taken = taken
            self._taking_due = now + self._limits.write_seconds
        elif now >= self._taking_due:
            text = f"A client took too little of its answer in {self._limits.write_seconds} s"
            self._settings.log(now, f"{text} (limits.write_seconds)")
            self._wire.abort()

    def _refuse(self, refused: Refused) -> None:
        """Take no more; what was asked properly before is answered first."""
        self._settings.log(self.loop.time(), f"Refused a request: {refused.status}, {refused.message}")
        self._settings.on_refused(refused)
        self._last = refused.raw()
        self._due = None
        self._unparsed = 0
        if self._owes == _BODY:
            self._drop_request(self.cycle)
        if self._answering is None:
            self._part(self._last)

    def _drop_request(self, cycle: RequestResponseCycle) -> None:
        """The request whose body went wrong gets no other answer than the refusal."""
        if cycle.response_complete:
            self._last = b""
            return
        self._abandon(cycle)
        if cycle is not self._answering:
            self.pipeline.popleft()
        elif cycle.response_started:
            self._wire.abort()
        else:
            self._answering = None

    def _part(self, last: bytes) -> None:
        """Write ``last``, and close once the client has done so too, or after ``_PARTING_S``.

        Closing at once, with bytes of the client unread, would lose it the answer.
        """
        if self.parted or self._wire.is_closing():
            return
        self.parted = True
        self._outwards.write(last)
        if len(self._parting) >= _MOST_PARTING:
            self._wire.close()
            return
        self._parting.add(self)
        self._wire.write_eof()
        self._due = self.loop.time() + _PARTING_S
        self.flow.resume_reading()

    def _head_too_large(self) -> Refused:
        limits = self._limits
        return Refused(
            431,
            f"The head of a request is at most {limits.header_bytes} bytes (limits.header_bytes) "
            f"and {limits.headers} headers (limits.headers)",
        )

    def _body_too_large(self) -> Refused:
        return Refused(413, f"A body is at most {self._limits.message_bytes} bytes (limits.message_bytes)")

    def _too_late(self) -> Refused:
        limits = self._limits
        if self._owes == _BODY:
            return Refused(408, f"The body took longer than {limits.body_seconds} s (limits.body_seconds)")
        return Refused(408, f"The head took longer than {limits.head_seconds} s (limits.head_seconds)")

    @property
    def _most_in_a_body(self) -> int:
        """How many bytes may come without completing a body: chunks may be as small as their frames."""
        return self._limits.header_bytes + 2 * self._limits.message_bytes

    @staticmethod
    def _abandon(cycle: RequestResponseCycle) -> None:
        cycle.disconnected = True
        cycle.message_event.set()


def _nobody(_refused: Refused) -> None:
    """Of what was refused, nobody is told."""


class _Unfit(Exception):
    """Raised through the parser, which then stops."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused = refused
