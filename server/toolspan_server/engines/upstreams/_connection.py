"""One server's connection: made, used, lost, made again, ended. It runs in a task of its own, which alone
enters and leaves the transport's context managers."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import anyio

from ._attempt import attempt, attempt_within
from ._following import Following
from ._listed_tool import Bounds, ListedTool, Listing
from ._listener import Listener
from ._results import (
    CallRefused,
    InputNeeded,
    InputResponses,
    NoResult,
    NotAuthorized,
    PeerError,
    ServerGone,
    UnusableAnswer,
    UpstreamResult,
)
from ._session_state import SessionState
from ._spec import Restarts, ServerFailure, ServerSpec, UnusableServer
from ._upstream_session import UpstreamSession, session_kind

if TYPE_CHECKING:
    from .child.process import Child

_T = TypeVar("_T")

_log = logging.getLogger(__name__)
_NOT_SENT = (anyio.BrokenResourceError, anyio.ClosedResourceError)

_WITHOUT_SESSIONS = "2026-07-28"
_LEAVE_SECONDS = 2.0
_AFTERMATH_SECONDS = 1.0
_SOON_SECONDS = 5.0
_RELIST_PAUSE_SECONDS = 0.5
_LONGEST_RELIST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 60.0


class _SessionExpired(Exception):
    """The server does not know the session any more."""


class Connection:
    """The connection to the server of ``spec``. ``run`` is its task.

    ``ready`` is set when it is known whether the server answers: then either ``tools`` holds its tools or
    ``failure`` says why there are none. With ``on_listing``, the tools are listed again after each restart
    and whenever the server says that they changed, and every list is given to it. ``on_change`` is called
    whenever ``is_up`` or ``lost`` may be another. ``log_level`` is the least of the log messages that the
    server is asked for. ``tools`` are only ``read`` for the sake of the session, or not at all.
    """

    def __init__(
        self,
        spec: ServerSpec,
        connect_timeout: float,
        *,
        restarts: Restarts | None = None,
        bounds: Bounds | None = None,
        listener: Listener | None = None,
        on_listing: Callable[[Listing], None] | None = None,
        on_change: Callable[[], None] | None = None,
        log_level: str = "",
        tools: Literal["kept", "read", "unread"] = "kept",
    ) -> None:
        self.spec = spec
        self.tools: tuple[ListedTool, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self.failure: ServerFailure | None = None
        self.ready = anyio.Event()
        self._connect_timeout = connect_timeout
        self._restarts = restarts or Restarts()
        self._bounds = bounds or Bounds()
        self._listener = listener
        self._on_listing = on_listing
        self._on_change = on_change or (lambda: None)
        self._log_level = log_level
        self._wants_tools = tools
        self._following = Following()
        self.is_left = False
        self._stopping = anyio.Event()
        self._wanted = anyio.Event()
        self._renewed = anyio.Event()
        self._state = SessionState()
        self._lost: ServerFailure | None = None
        self._restarted = 0
        self._disconnected = 0
        self._resumes_at = 0.0

    @property
    def is_up(self) -> bool:
        """Whether a call could be made now."""
        return self._state.session is not None

    @property
    def lost(self) -> ServerFailure | None:
        """Why the server is not there now, as far as that is known."""
        return None if self.is_up else self.failure or self._state.failure or self._lost

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines that the server wrote outside the protocol, without secrets; of one that is not
        there, those before its end."""
        child, lost = self._state.child, self.lost
        lines = () if child is None else child.tail.lines
        return tuple(self.spec.redact(line) for line in lines) or (() if lost is None else lost.stderr)

    def offers(self, feature: str) -> bool:
        """Whether the server that is there says that it has ``resources``, ``prompts`` or ``completions``."""
        capabilities = getattr(self._state.session, "server_capabilities", None)
        return getattr(capabilities, feature, None) is not None

    async def run(self) -> None:
        """Connect, and reconnect with growing pauses when the server is lost, until ``stop``."""
        while True:
            state = self._state
            if not self.is_left:
                await self._run_session(state)
            if self.is_left:
                state.failure = ServerFailure(self.spec.name, "it was disconnected here: connect it again")
                state.ended.set()
            if not self.ready.is_set() or self.failure is not None:
                self.failure = state.failure
                self.ready.set()
            if anyio.current_time() - state.up_since > _STEADY_SECONDS:
                self._restarted = self._disconnected = 0
            self._on_change()
            given_up = self.failure is not None and not self._restarts.from_start
            if given_up or self.is_left or self._stopping.is_set() or self._restarted >= self._restarts.most:
                state.over.set()
                return
            self._lost = state.failure
            pause = self._restarts.pause(max(self._restarted, self._disconnected))
            if state.child is not None and state.child.allowance.excess:
                self._disconnected += 1  # answered calls do not make up for it
            self._resumes_at = anyio.current_time() + pause
            wanted, ended = self._wanted, state
            self._renew()
            ended.over.set()
            with anyio.move_on_after(0 if wanted.is_set() else pause):
                await _first_of(self._stopping, self._wanted)
            self._restarted += 1

    def stop(self) -> None:
        """Let ``run`` end the session and the server."""
        self._stopping.set()

    async def run_and_revive(self) -> None:
        """``run``, and again whenever ``restart`` wants a server that was given up, until ``stop``."""
        while True:
            await self.run()
            await _first_of(self._stopping, self._wanted)
            if self._stopping.is_set():
                return
            self._renew()

    async def restart(self) -> ServerFailure | None:
        """End the session and the server, and connect again at once, also where it was given up; why it does
        not answer, if it does not. For a connection whose task is ``run_and_revive``."""
        self.is_left = False
        before, renewed = self._state, self._renewed
        self._restarted = self._disconnected = 0
        self._wanted.set()
        if before.up.is_set() or before.ended.is_set():
            before.lost.set()
            await renewed.wait()
        state = self._state
        await _first_of(state.up, state.ended)
        return None if state.up.is_set() else state.failure

    async def leave(self) -> None:
        """End the session and the server, and stay away until ``restart``. For a connection whose task is
        ``run_and_revive``."""
        self.is_left = True
        state = self._state
        state.lost.set()
        self._wanted.set()
        await _first_of(state.ended, self._stopping)

    def _renew(self) -> None:
        """Let there be another session."""
        self._state = SessionState()
        self._wanted = anyio.Event()
        self._renewed.set()
        self._renewed = anyio.Event()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        meta: Mapping[str, Any] | None = None,
        again: InputResponses | None = None,
        timeout: float | None = None,
    ) -> UpstreamResult | InputNeeded:
        """What the server answers to a call of the tool ``name``; cancelling cancels there.

        Raises ``ServerGone``, ``CallRefused``, ``NotAuthorized``, ``NoResult``, and ``TimeoutError`` after
        ``timeout`` seconds, not counting those that a person takes.
        """

        async def ask(transport: UpstreamSession, session: Any) -> UpstreamResult | InputNeeded:
            return await transport.call_tool(session, name, arguments, meta or {}, again)

        return await self._answer(ask, timeout, "tool result")

    async def request(
        self, method: str, params: Mapping[str, Any], *, timeout: float | None = None
    ) -> dict[str, Any]:
        """The server's result for ``method``, any request but a call of a tool. Raises as ``call``."""

        async def ask(transport: UpstreamSession, session: Any) -> dict[str, Any]:
            return await transport.request(session, method, params)

        return await self._answer(ask, timeout, f"result of {method}")

    async def follow(self, uri: str) -> bool:
        """Have the listener told when the resource ``uri`` changes, in later sessions too; false where the
        server does not tell, or not within the time to connect."""
        with anyio.move_on_after(self._connect_timeout):
            return await self._following.add(uri)
        return False

    def unowned_since(self, moment: float) -> str:
        """What the server sent since ``moment`` of ``time.monotonic`` that belongs to no request, if it did;
        perhaps an answer that is waited for."""
        child = self._state.child
        unowned = "" if child is None else child.unowned.since(moment)
        return f"server {self.spec.name!r} {self.spec.redact(unowned)}" if unowned else ""

    async def notify(self, method: str) -> None:
        """Send the notification ``method``, if the server is there and takes any."""
        state = self._state
        if state.session is not None and state.transport is not None:
            with suppress(PeerError, *_NOT_SENT):
                await state.transport.notify(state.session, method)

    async def _answer(
        self, ask: Callable[[UpstreamSession, Any], Awaitable[_T]], timeout: float | None, wanted: str
    ) -> _T:
        state = await self._available()
        try:
            answer = await self._asked(ask, timeout, wanted, state)
        except _SessionExpired:  # the request was not carried out
            state.lost.set()
            self._wanted.set()
            await state.over.wait()
            state = await self._available()
            try:
                answer = await self._asked(ask, timeout, wanted, state)
            except _SessionExpired:
                state.lost.set()
                with anyio.move_on_after(_AFTERMATH_SECONDS):
                    await state.ended.wait()
                raise self._gone(state) from None
        self._restarted = 0
        return answer

    async def _asked(
        self,
        ask: Callable[[UpstreamSession, Any], Awaitable[_T]],
        timeout: float | None,
        wanted: str,
        state: SessionState,
    ) -> _T:
        """The answer within the session of ``state``. Raises as ``call``, and ``_SessionExpired``."""
        if (session := state.session) is None or state.transport is None:
            raise self._gone(state)
        try:
            with attempt_within(timeout) as made:
                try:
                    return await ask(state.transport, session)
                except (PeerError, UnusableAnswer) as error:
                    if made.refusal and isinstance(error, PeerError):
                        raise NotAuthorized(self.spec.redact(made.refusal)) from None
                    self._check_session(state, made.status, str(error))
                    raise
        except PeerError as error:
            raise await self._refused(error, state) from None
        except UnusableAnswer as error:
            raise NoResult(f"server {self.spec.name!r} {self.spec.redact(str(error))}") from None
        except ValueError as error:
            _log.debug("server %r: no valid %s", self.spec.name, wanted, exc_info=error)
            what = f"server {self.spec.name!r} answered with something that is no {wanted}"
            raise NoResult(what) from None

    def _check_session(self, state: SessionState, status: int | None, message: str) -> None:
        """Raise ``_SessionExpired`` where the server says that it has no such session: with 404 as the
        specification has it, or with 400 and words about sessions, as many servers do."""
        version = getattr(state.session, "protocol_version", None) or ""
        if self.spec.kind != "http" or version >= _WITHOUT_SESSIONS:
            return
        if status == 404 or (status == 400 and "session" in message.lower()):
            raise _SessionExpired

    async def _run_session(self, state: SessionState) -> None:
        transport = state.transport = await session_kind(self.spec)
        from .child.process import Child

        child = state.child = Child()
        fault: Exception | None = None
        try:
            deadline = anyio.current_time() + self._connect_timeout
            with anyio.CancelScope(deadline=deadline) as scope, attempt(scope) as made:
                try:
                    await self._serve(state, child, scope, transport)
                finally:
                    state.refusal = made.refusal
        except Exception as error:
            _log.debug("server %r", self.spec.name, exc_info=error)
            fault = error
        finally:
            state.session = None
            state.failure = self._failure(fault, state, child)
            state.ended.set()

    async def _serve(
        self, state: SessionState, child: Child, scope: anyio.CancelScope, transport: UpstreamSession
    ) -> None:
        if self.spec.problem:
            raise UnusableServer(self.spec.problem)
        async with transport.open_session(self.spec, child, self._listener) as (session, channel):
            if self._wants_tools != "unread" and (self._on_listing is not None or not self.ready.is_set()):
                await self._list(transport, session, channel)
            if self._log_level:
                await transport.set_log_level(session, self._log_level)
            scope.deadline = math.inf
            state.session, state.up_since = session, anyio.current_time()
            self.failure = None
            state.up.set()
            self.ready.set()
            self._on_change()
            async with anyio.create_task_group() as tasks:
                if self._on_listing is not None:
                    tasks.start_soon(self._keep_listing, transport, session, channel)
                tasks.start_soon(self._following.keep, transport, session, channel)
                await _first_of(
                    channel.gone, state.lost, self._stopping, child.broken, child.allowance.exceeded
                )
                tasks.cancel_scope.cancel()
            state.session = None
            scope.deadline = anyio.current_time() + _LEAVE_SECONDS

    async def _list(self, transport: UpstreamSession, session: Any, channel: Any) -> None:
        listing = await transport.list_tools(session, channel, self._bounds)
        if self._wants_tools == "kept":
            self.tools, self.warnings = tuple(listing.tools), tuple(listing.warnings)
        if self._on_listing is not None:
            self._on_listing(listing)

    async def _keep_listing(self, transport: UpstreamSession, session: Any, channel: Any) -> None:
        """List the tools again when the server says so; the more often it does, the less often we do."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.hear_of_changes, session, channel)
            pause, listed_at = _RELIST_PAUSE_SECONDS, -math.inf
            while True:
                await channel.changed.wait()
                if anyio.current_time() - listed_at > _STEADY_SECONDS:
                    pause = _RELIST_PAUSE_SECONDS
                await anyio.sleep(pause)
                pause, listed_at = min(2 * pause, _LONGEST_RELIST_PAUSE_SECONDS), anyio.current_time()
                channel.changed = anyio.Event()
                try:
                    with anyio.fail_after(self._connect_timeout):
                        await self._list(transport, session, channel)
                except (PeerError, ValueError, TimeoutError) as error:
                    reason = self.spec.redact(str(error)) or "no answer in time"
                    _log.warning("server %r: its changed tools cannot be listed: %s", self.spec.name, reason)

    async def _available(self) -> SessionState:
        """The current session; while the server is being restarted, or will be soon, the next one, if it
        comes up in the time that connecting may take."""
        soon = anyio.current_time() + _SOON_SECONDS
        with anyio.move_on_after(max(self._connect_timeout, _SOON_SECONDS)):
            if self._state.session is None and self._state.up.is_set():  # it is ending
                await self._state.over.wait()
            if self._state.session is None and self._resumes_at < soon:
                await _first_of(self._state.up, self._state.ended)
        return self._state

    async def _refused(self, error: PeerError, state: SessionState) -> CallRefused | ServerGone:
        if error.is_end:
            state.lost.set()  # also when only one direction of the transport is closed
            with anyio.move_on_after(_AFTERMATH_SECONDS):
                await state.ended.wait()
            return self._gone(state)
        return CallRefused(error.code, self.spec.redact(error.message), error.data)

    def _gone(self, state: SessionState) -> ServerGone:
        known, detail = self.failure or state.failure or self._lost, ""
        if known:
            detail = known.reason + (f" (it last said: {known.stderr[-1]})" if known.stderr else "")
        return ServerGone(f"server {self.spec.name!r} is gone", detail)

    def _failure(self, fault: Exception | None, state: SessionState, child: Child) -> ServerFailure:
        from ._failure_messages import reason

        answered, redact = state.up.is_set(), self.spec.redact
        if state.refusal and not answered:
            return ServerFailure(self.spec.name, redact(state.refusal), needs_sign_in=True)
        text = reason(fault, self.spec, child, answered=answered, timeout=self._connect_timeout)
        return ServerFailure(self.spec.name, redact(text), tuple(redact(line) for line in child.tail.lines))


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
