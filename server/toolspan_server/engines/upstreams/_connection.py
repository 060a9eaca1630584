"""One server's connection: made, used, lost, made again, ended. It runs in a task of its own, which alone
enters and leaves the transport's context managers."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from ...common.sdk_import import imported_with_sdk
from ._listed_tool import Bounds, ListedTool
from ._listener import Listener
from ._listing import Listing
from ._results import (
    CallRefused,
    InputNeeded,
    InputResponses,
    NoResult,
    PeerError,
    ServerGone,
    UpstreamResult,
)
from ._spec import ServerFailure, ServerSpec, UnusableServer

if TYPE_CHECKING:
    from ._process import Child

_log = logging.getLogger(__name__)

_LEAVE_SECONDS = 2.0
_AFTERMATH_SECONDS = 1.0
_RESTART_WAIT_SECONDS = 5.0
_RELIST_PAUSE_SECONDS = 0.5
_LONGEST_RELIST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 60.0

_NEED_SDK = ("_changes", "_sdk_session", "_stdio")
_WITH_SDK = tuple(f"{__package__}.{name}" for name in _NEED_SDK)


class UpstreamSession(Protocol):
    """How a server is spoken to: ``_sdk_session``, by the SDK, or ``_modern_session``."""

    def open_session(
        self, spec: ServerSpec, child: Child, listener: Listener | None
    ) -> AbstractAsyncContextManager[tuple[Any, Any]]: ...

    async def list_tools(self, session: Any, channel: Any, bounds: Bounds) -> Listing: ...

    async def call_tool(
        self,
        session: Any,
        name: str,
        arguments: Mapping[str, Any],
        meta: Mapping[str, Any],
        again: InputResponses | None,
    ) -> UpstreamResult | InputNeeded: ...


async def _transport(spec: ServerSpec) -> UpstreamSession:
    if spec.own:
        from . import _modern_session

        return _modern_session
    await imported_with_sdk(*_WITH_SDK)
    from . import _sdk_session

    return _sdk_session


@dataclass(frozen=True, slots=True)
class Restarts:
    """How often a server that was lost is connected again, and how long the growing pauses get, in seconds.

    With ``jitter`` each pause is cut by up to that part of it. ``from_start``: also one that never answered.
    """

    most: float = 5
    first_pause: float = 0.25
    longest_pause: float = 8.0
    jitter: float = 0.0
    from_start: bool = False

    def pause(self, count: int) -> float:
        """The pause before the restart after ``count`` others."""
        pause = min(self.first_pause * 2.0 ** min(count, 30), self.longest_pause)
        return pause * (1 - self.jitter * random.random())


class _SessionState:
    """The state of one session. ``ended`` is set once ``failure`` is known."""

    def __init__(self) -> None:
        self.up = anyio.Event()
        self.lost = anyio.Event()
        self.ended = anyio.Event()
        self.child: Child | None = None
        self.transport: UpstreamSession | None = None
        self.session: Any = None
        self.failure: ServerFailure | None = None
        self.up_since = math.inf


class Connection:
    """The connection to the server of ``spec``. ``run`` is its task.

    ``ready`` is set when it is known whether the server answers: then either ``tools`` holds its tools or
    ``failure`` says why there are none. With ``on_listing``, the tools are listed again after each restart
    and whenever the server says that they changed, and every list is given to it. ``on_change`` is called
    whenever ``is_up`` or ``lost`` may be another.
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
        self._stopping = anyio.Event()
        self._state = _SessionState()
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

    async def run(self) -> None:
        """Connect, and reconnect with growing pauses when the server is lost, until ``stop``."""
        state = self._state
        while True:
            await self._run_session(state)
            if not self.ready.is_set() or self.failure is not None:
                self.failure = state.failure
                self.ready.set()
            if anyio.current_time() - state.up_since > _STEADY_SECONDS:
                self._restarted = self._disconnected = 0
            self._on_change()
            given_up = self.failure is not None and not self._restarts.from_start
            if given_up or self._stopping.is_set() or self._restarted >= self._restarts.most:
                return
            self._lost = state.failure
            pause = self._restarts.pause(max(self._restarted, self._disconnected))
            if state.child is not None and state.child.allowance.excess:
                self._disconnected += 1  # answered calls do not make up for it
            state = self._state = _SessionState()
            self._resumes_at = anyio.current_time() + pause
            with anyio.move_on_after(pause):
                await self._stopping.wait()
            self._restarted += 1

    def stop(self) -> None:
        """Let ``run`` end the session and the server."""
        self._stopping.set()

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

        Raises ``ServerGone``, ``CallRefused``, ``NoResult``, and ``TimeoutError`` after ``timeout`` seconds.
        """
        state = await self._available()
        if (session := state.session) is None or state.transport is None:
            raise self._gone(state)
        try:
            with anyio.fail_after(timeout):
                answer = await state.transport.call_tool(session, name, arguments, meta or {}, again)
        except PeerError as error:
            raise await self._refused(error, state) from None
        except ValueError as error:
            _log.debug("server %r: invalid answer to %r", self.spec.name, name, exc_info=error)
            raise NoResult(
                f"server {self.spec.name!r} answered with something that is no tool result"
            ) from None
        self._restarted = 0
        return answer

    async def _run_session(self, state: _SessionState) -> None:
        transport = state.transport = await _transport(self.spec)
        from ._process import Child

        child = state.child = Child()
        fault: Exception | None = None
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._connect_timeout) as scope:
                await self._serve(state, child, scope, transport)
        except Exception as error:
            _log.debug("server %r", self.spec.name, exc_info=error)
            fault = error
        finally:
            state.session = None
            state.failure = self._failure(fault, child, answered=state.up.is_set())
            state.ended.set()

    async def _serve(
        self, state: _SessionState, child: Child, scope: anyio.CancelScope, transport: UpstreamSession
    ) -> None:
        if self.spec.problem:
            raise UnusableServer(self.spec.problem)
        async with transport.open_session(self.spec, child, self._listener) as (session, channel):
            if self._on_listing is not None or not self.ready.is_set():
                await self._list(transport, session, channel)
            scope.deadline = math.inf
            state.session, state.up_since = session, anyio.current_time()
            self.failure = None
            state.up.set()
            self.ready.set()
            self._on_change()
            async with anyio.create_task_group() as tasks:
                if self._on_listing is not None:
                    tasks.start_soon(self._keep_listing, transport, session, channel)
                await _first_of(channel.gone, state.lost, self._stopping, child.allowance.exceeded)
                tasks.cancel_scope.cancel()
            state.session = None
            scope.deadline = anyio.current_time() + _LEAVE_SECONDS

    async def _list(self, transport: UpstreamSession, session: Any, channel: Any) -> None:
        listing = await transport.list_tools(session, channel, self._bounds)
        self.tools, self.warnings = tuple(listing.tools), tuple(listing.warnings)
        if self._on_listing is not None:
            self._on_listing(listing)

    async def _keep_listing(self, transport: UpstreamSession, session: Any, channel: Any) -> None:
        """List the tools again when the server says so; the more often it does, the less often we do."""
        from ._changes import hear_of_changes

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hear_of_changes, session, channel)
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

    async def _available(self) -> _SessionState:
        """The current session; while the server is being restarted, the next one, if it comes up soon."""
        state = self._state
        soon = anyio.current_time() + _RESTART_WAIT_SECONDS
        if state.session is None and self._resumes_at < soon:
            with anyio.move_on_after(_RESTART_WAIT_SECONDS):
                await _first_of(state.up, state.ended)
        return state

    async def _refused(self, error: PeerError, state: _SessionState) -> CallRefused | ServerGone:
        expired = self.spec.kind == "http" and state.child is not None and state.child.status == 404
        if expired:
            state.lost.set()
        if error.is_end:
            state.lost.set()  # also when only one direction of the transport is closed
        if expired or error.is_end:
            with anyio.move_on_after(_AFTERMATH_SECONDS):
                await state.ended.wait()
            return self._gone(state)
        return CallRefused(error.code, self.spec.redact(error.message))

    def _gone(self, state: _SessionState) -> ServerGone:
        known, detail = self.failure or state.failure or self._lost, ""
        if known:
            detail = known.reason + (f" (it last said: {known.stderr[-1]})" if known.stderr else "")
        return ServerGone(f"server {self.spec.name!r} is gone", detail)

    def _failure(self, fault: Exception | None, child: Child, *, answered: bool) -> ServerFailure:
        from ._failure_messages import reason

        text = reason(fault, self.spec, child, answered=answered, timeout=self._connect_timeout)
        redact = self.spec.redact
        return ServerFailure(self.spec.name, redact(text), tuple(redact(line) for line in child.tail.lines))


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)
