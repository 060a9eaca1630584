"""One HTTP connection: uvicorn's, with limits on what a client sends and on how long it takes.

Uvicorn (0.54) has no deadline for a first request, a head or a body, and no limit on a body: clients that had
sent nothing, half a head or half a body still had their connections after 60 s (measured). What only saves
time is in ``head_cache``, ``request_cycle`` and ``eager_tasks``, each with its figure.

A deadline concerns what the client owes (the head of a request, its body, the next request, taking its
answer), never how long an answer takes. What the parser lets through and HTTP does not want is refused:
trailers never become headers, another version, an absolute target, an encoded body.
"""

from __future__ import annotations

import asyncio
import select
from typing import TYPE_CHECKING, Any, cast

import httptools
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ..asgi import RefusedResponse
from ..body_budget import SMALL, weight
from .counting_transport import CountingTransport
from .head_cache import HeadCache, Request, without_offer
from .read_progress import ReadProgress
from .request_checks import (
    CROWDED,
    DISPLACED,
    MOST_WAITING,
    UNASKED,
    UNREADABLE,
    RequestRejected,
    known_scope,
)
from .request_cycle import CYCLE, RequestCycle, complete_scope
from .settings import Settings

if TYPE_CHECKING:
    from uvicorn.server import ServerState

_NOTHING, _HEAD, _BODY = range(3)
_PARTING_S = 1.0
_MOST_PARTING = 64
_LEAST_BODY_S = 1.0


class Connection(HttpToolsProtocol):
    """The protocol class that uvicorn instantiates for each connection."""

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
        self._admission = config.admission
        self._bodies = config.bodies
        self._refusals = config.refusals
        self._checks = config.checks
        self._owes = _HEAD
        self._due: float | None = None
        self._messages = self._size = self._unparsed = 0
        self._taking = ReadProgress(config.limits.write_seconds)
        self._answering: RequestCycle | None = None
        self._last: bytes | None = None
        self._heads = HeadCache(config.limits)
        self.parted = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast("asyncio.Transport", transport)
        self._outwards = CountingTransport(self._wire, self)
        self._eager = self._settings.eager_tasks()
        super().connection_made(self._outwards)
        self._due = self.loop.time() + self._limits.head_seconds
        refused = self._admission.admit(self, self.client[0] if self.client else "")
        if refused is not None:
            self._refuse(refused)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._parting.discard(self)
        self._admission.leave(self)
        self._settings.unread.gone(self)
        self._bodies.arrived(self)
        self._due = None
        if self._answering is not None:
            self._abandon(self._answering)
        for cycle, _ in self.pipeline:
            self._release(cast("RequestCycle", cycle))
        self.pipeline.clear()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if self.parted or self._last is not None:
            self._unparsed += len(data)
            if self._unparsed > self._most_in_a_body:
                self._wire.abort()
            return
        # Only between requests: the parser, which is bypassed here, must not be in the middle of one.
        rests = self._owes == _NOTHING and self._is_free()
        if rests and len(data) <= SMALL and (request := self._heads.read(data)) is not None:
            self._begin_known(request)
            return
        owed, message = self._owes, self._messages
        try:
            self._feed(data)
        except httptools.HttpParserError as fault:
            cause = fault.__context__
            self._refuse(cause.refused if isinstance(cause, RequestRejected) else UNREADABLE)
            return
        if owed and owed == self._owes and message == self._messages:
            self._unparsed += len(data)
            if owed == _HEAD and self._unparsed > self._limits.header_bytes:
                self._refuse(self._refusals.head_too_large)
            elif self._unparsed > self._most_in_a_body:
                self._refuse(self._refusals.body_too_large)
        elif self._messages == message + 1 and self._owes == _NOTHING and (rests or not message):
            self._learn(data)

    def _is_free(self) -> bool:
        """Whether no request is being answered and the next one may start."""
        return self._answering is None and not self.pipeline and self.cycle.keep_alive

    def _learn(self, data: bytes) -> None:
        if self.cycle.keep_alive and not self.expect_100_continue:
            scope = {key: value for key, value in self.scope.items() if key != CYCLE}
            self._heads.learn(data, scope, self.cycle.body)

    def _begin_known(self, request: Request) -> None:
        """Answer a request whose head is cached."""
        head, length, body = request
        scope = head.scope(length, self.app_state.copy())
        self._messages += 1
        self._size = self._unparsed = 0
        self._due = None
        self.cycle = cycle = self._cycle(scope)
        cycle.head, cycle.body, cycle.more_body = head, bytearray(body), False
        cycle.unread = True
        self._answering = cycle
        task = self._eager.start(cycle.run_asgi(cast("Any", self).app))
        if task is not None:
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def _cycle(self, scope: Any, *, keep_alive: bool = True, expects: bool = False) -> RequestCycle:
        start = self._settings.start(self.server_state.default_headers)
        return RequestCycle.of(self, scope, start, keep_alive=keep_alive, expects=expects)

    def _feed(self, data: bytes) -> None:
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                # llhttp stops for good at an Upgrade header, which this server ignores: a new parser goes on.
                again = without_offer(self.parser, self.url, self.headers)
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
                data = again + data[offer.args[0] :]
            else:
                return

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
        name, value = (
            name.lower(),
            value.strip(b" \t"),
        )  # RFC 9110, 5.5: surrounding whitespace is not part of the value
        self.headers.append((name, value))
        self._size += len(name) + len(value) + 4
        self._checks.check_header(name, value, self._size, len(self.headers))
        if name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"

    @override
    def on_headers_complete(self) -> None:
        self._checks.check_head(self.parser, self.url, self._size)
        if len(self.pipeline) >= MOST_WAITING:
            raise RequestRejected(CROWDED)
        if self.parser.should_upgrade():
            return  # the head comes again, without the offer: see ``_feed``
        self._begin()
        self._owes = _BODY
        self._due = self.loop.time() + self._limits.body_seconds
        self._size = self._unparsed = 0

    def _begin(self) -> None:
        """Start the request, after those before it on this connection."""
        complete_scope(self.scope, self.parser, self.url)
        before, app = cast("RequestCycle | None", self.cycle), cast("Any", self).app
        keep_alive = self.scope["http_version"] != "1.0" and self.parser.should_keep_alive()
        self.cycle = cycle = self._cycle(self.scope, keep_alive=keep_alive, expects=self.expect_100_continue)
        if before is None or before.response_complete:
            self._start_asgi_task(cycle, app)
        else:  # continue to read: otherwise a disconnect of the client would go unnoticed
            self.pipeline.appendleft((cycle, app))

    @override
    def on_body(self, body: bytes) -> None:
        size = weight(body, self._size)
        self._size += len(body)
        if self._size > self._limits.message_bytes:
            raise RequestRejected(self._refusals.body_too_large)
        cycle = cast("RequestCycle", self.cycle)
        if not cycle.response_complete:  # what comes after the answer is discarded, and takes no memory
            cycle.held += size
            if not self._bodies.grew(self, size, cycle.held):
                raise RequestRejected(self._refusals.too_many_bodies)
        super().on_body(body)
        if self.pipeline and sum(len(cycle.body) for cycle, _ in self.pipeline) > self._limits.message_bytes:
            raise RequestRejected(CROWDED)

    @override
    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        super().on_message_complete()
        self._bodies.arrived(self)
        self._owes = _NOTHING
        self._due = None if self._answering is not None else self.loop.time() + self._limits.idle_seconds

    @override
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cast("RequestCycle", cycle)
        task = self.loop.create_task(self._answer(cycle, app))
        self.tasks.add(task)

    async def _answer(self, cycle: RequestResponseCycle, app: Any) -> None:
        try:
            await cycle.run_asgi(app)
        finally:
            self._release(cast("RequestCycle", cycle))
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
        """Enforce the client's deadlines at ``now``, the loop's time."""
        left = self._wire.get_write_buffer_size()
        if self._taking.is_late(now, self._outwards.written, left):
            text = f"A client took too little of its answer in {self._limits.write_seconds} s"
            self._settings.log(now, f"{text} (limits.write_seconds)")
            self._wire.abort()
        if self._due is None or now < self._due:
            return
        if self.flow.read_paused:
            self._due = now + self._limits.body_seconds
        elif self.parted:
            self._wire.abort()
        elif self._owes == _NOTHING or not self._messages:
            self._wire.close()
        else:
            self._refuse(self._refusals.late_body if self._owes == _BODY else self._refusals.late_head)

    def dispensable(self) -> tuple[int, float] | None:
        """The priority for being closed for another connection; ``None``: not to be closed."""
        if self.parted or self._due is None or self._last is not None:
            return None
        if cast("RequestCycle | None", self.cycle) is None:
            return 0, self._due
        if self._owes != _BODY:
            return (1, self._due) if self._answering is None else None
        begun = self.cycle is not self._answering or self.cycle.response_started
        late = self.loop.time() - self._due + self._limits.body_seconds > _LEAST_BODY_S
        return (2, self._due) if late and not begun else None

    def has_unread_input(self) -> bool:
        """Whether a request waits in the socket: the loop has not come to reading it."""
        number = self._wire.get_extra_info("socket").fileno()
        if self._owes == _BODY or number < 0 or not hasattr(select, "poll"):
            return False
        readable = select.poll()
        readable.register(number, select.POLLIN)
        return bool(readable.poll(0))

    def make_room(self) -> None:
        """Close, for another connection; a client that has started a request gets a 503."""
        self._admission.leave(self)
        if self._owes == _NOTHING or not self._messages:
            self._settings.log(self.loop.time(), UNASKED)
            self._due = None
            self._wire.close()
        else:
            self._refuse(DISPLACED)

    def refuse_body(self, refused: RefusedResponse) -> None:
        """Stop reading the body that is arriving; its request is ``refused``."""
        self._refuse(refused)

    @property
    def held(self) -> int:
        """The number of bytes that the client has not read yet; see ``Holder``."""
        return self._wire.get_write_buffer_size()

    def let_go(self, why: str) -> None:
        """Close at once: the client has left too much unread."""
        self._settings.log(self.loop.time(), f"A connection was closed: {why}")
        self._wire.abort()

    def wrote_much(self) -> None:
        """Record how much is waiting for the client now."""
        if self.held:
            self._settings.unread.grew(self)

    def close(self) -> None:
        """Close when all is written; a client that still sends its body may read the answer first."""
        if self._owes == _BODY:
            self._part(b"")
        else:
            self._wire.close()

    def _refuse(self, refused: RefusedResponse) -> None:
        """Stop reading; valid requests before are answered first."""
        self._settings.log(self.loop.time(), f"Refused a request: {refused.status}, {refused.message}")
        self._settings.on_refused(refused)
        render_of = self._settings.render_of
        self._last = refused.raw(None if render_of is None else render_of(known_scope(self)))
        self._due = None
        self._unparsed = 0
        self._bodies.arrived(self)
        if self._owes == _BODY:
            self._drop_request(cast("RequestCycle", self.cycle))
        if self._answering is None:
            self._part(self._last)

    def _drop_request(self, cycle: RequestCycle) -> None:
        """Drop the request with the bad body: the refusal is its only answer."""
        self._release(cycle)
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
        """Write ``last``, and close once the client has closed its side, or after ``_PARTING_S``.

        Closing at once, with bytes of the client unread, would make the client lose the answer.
        """
        if self.parted or self._wire.is_closing():
            return
        self.parted = True
        self._admission.leave(self)
        self._outwards.write(last)
        if len(self._parting) >= _MOST_PARTING:
            self._wire.close()
            return
        self._parting.add(self)
        self._wire.write_eof()
        self._due = self.loop.time() + _PARTING_S
        self.flow.resume_reading()

    @property
    def _most_in_a_body(self) -> int:
        """How many bytes may arrive before a body is complete: chunks may be as small as their framing."""
        return self._limits.header_bytes + 2 * self._limits.message_bytes

    def _release(self, cycle: RequestCycle) -> None:
        """Release the body's memory from the budget."""
        self._bodies.free(cycle.held)
        cycle.held = 0
        cycle.body = bytearray()

    @staticmethod
    def _abandon(cycle: RequestResponseCycle) -> None:
        cycle.disconnected = True
        cycle.message_event.set()
