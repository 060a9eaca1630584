"""One server's connection: made, used, lost, made again, ended. It runs in a task of its own, which alone
enters and leaves the transport's context managers."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from typing_extensions import override

from ..messages import ToolOutcome, ToolSpec
from .outcomes import TOOL_ERROR_ACTION, UNLISTED_ACTION, Answer, failed, outcome
from .servers import ServerSpec

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.exceptions import MCPError
    from mcp_types import CallToolResult

    from ._stdio import Child

_log = logging.getLogger(__name__)

_ANY_VALUE_SINCE = "2026-07-28"
_LEAVE_SECONDS = 2.0
_AFTERMATH_SECONDS = 1.0
_RESTART_WAIT_SECONDS = 5.0
_RESTARTS = 5
_FIRST_PAUSE = 0.25
_UNAVAILABLE_ACTION = "Check that the server runs and what it last said, or answer without its tools."

_TIMEOUT_ACTION = "Try a smaller request, or raise tools.default_timeout_ms in the config."


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """A server whose tools are not there: why, and the tail of what it wrote to stderr."""

    server: str
    reason: str
    stderr: tuple[str, ...] = ()

    @override
    def __str__(self) -> str:
        tail = "".join(f"\n    {line}" for line in self.stderr)
        return f"server {self.server!r}: {self.reason}" + (f"; it last said:{tail}" if tail else "")


class UnusableServer(ValueError):
    """The server's entry cannot work; the message says why and what to write."""


class _Life:
    """One session, from its start to its end. ``ended`` is set when ``reason`` is known."""

    def __init__(self) -> None:
        self.up = anyio.Event()
        self.lost = anyio.Event()
        self.ended = anyio.Event()
        self.child: Child | None = None
        self.session: ClientSession | None = None
        self.failure: ServerFailure | None = None


class Connection:
    """The connection to the server of ``spec``. ``run`` is its task.

    ``ready`` is set when it is known whether the server answers: then either ``tools`` holds its tools or
    ``failure`` says why there are none.
    """

    def __init__(self, spec: ServerSpec, connect_timeout: float) -> None:
        self.spec = spec
        self.tools: tuple[ToolSpec, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self.failure: ServerFailure | None = None
        self.ready = anyio.Event()
        self._connect_timeout = connect_timeout
        self._stopping = anyio.Event()
        self._life = _Life()
        self._lost: ServerFailure | None = None
        self._restarts = 0

    async def run(self) -> None:
        """Connect, and reconnect with growing pauses when the server is lost, until ``stop``."""
        life = self._life
        while True:
            await self._live(life)
            if not self.ready.is_set():
                self.failure = life.failure
                self.ready.set()
                return
            if self._stopping.is_set() or self._restarts == _RESTARTS:
                return
            self._lost = life.failure
            life = self._life = _Life()
            with anyio.move_on_after(_FIRST_PAUSE * 2**self._restarts):
                await self._stopping.wait()
            self._restarts += 1

    def stop(self) -> None:
        """Let ``run`` end the session and the server."""
        self._stopping.set()

    async def call(self, name: str, arguments: Mapping[str, Any], call_id: str) -> ToolOutcome:
        """Call the tool ``name``. Whatever the server does, there is an outcome within the call's timeout."""
        from mcp.shared.exceptions import MCPError

        from ._session import call_tool

        life = await self._available()
        if (session := life.session) is None:
            return self._unavailable(life, call_id, name)
        started = time.perf_counter()
        timeout = self.spec.call_timeout
        try:
            with anyio.fail_after(timeout):
                result = await call_tool(session, name, arguments)
        except TimeoutError:
            text = f"Tool execution timed out after {round(timeout * 1000)}ms"
            return failed(call_id, name, text, "timeout", _TIMEOUT_ACTION, _elapsed_ms(started))
        except MCPError as error:
            return await self._refused(error, life, call_id, name, _elapsed_ms(started))
        except ValueError as error:
            _log.debug("server %r: invalid answer to %r", self.spec.name, name, exc_info=error)
            text = f"server {self.spec.name!r} answered with something that is no tool result"
            return failed(call_id, name, text, "tool_error", _UNAVAILABLE_ACTION, _elapsed_ms(started))
        self._restarts = 0
        return outcome(call_id, name, _answer(result, session.protocol_version or ""), _elapsed_ms(started))

    async def _live(self, life: _Life) -> None:
        from ._stdio import Child

        child = life.child = Child()
        fault: Exception | None = None
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + self._connect_timeout) as scope:
                await self._serve(life, child, scope)
        except Exception as error:
            _log.debug("server %r", self.spec.name, exc_info=error)
            fault = error
        finally:
            life.session = None
            life.failure = self._failure(fault, child, answered=life.up.is_set())
            life.ended.set()

    async def _serve(self, life: _Life, child: Child, scope: anyio.CancelScope) -> None:
        from ._session import list_tools, open_session

        if self.spec.problem:
            raise UnusableServer(self.spec.problem)
        async with open_session(self.spec, child) as (session, channel):
            if not self.ready.is_set():
                listing = await list_tools(self.spec, session, channel)
                self.tools, self.warnings = tuple(listing.tools), tuple(listing.warnings)
            scope.deadline = math.inf
            life.session = session
            life.up.set()
            self.ready.set()
            await _first_of(channel.gone, life.lost, self._stopping)
            life.session = None
            scope.deadline = anyio.current_time() + _LEAVE_SECONDS

    async def _available(self) -> _Life:
        """The current life; while the server is being restarted, the next one, if that comes up soon."""
        life = self._life
        if life.session is None:
            with anyio.move_on_after(_RESTART_WAIT_SECONDS):
                await _first_of(life.up, life.ended)
        return life

    async def _refused(
        self, error: MCPError, life: _Life, call_id: str, name: str, elapsed_ms: float
    ) -> ToolOutcome:
        from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS

        expired = self.spec.kind == "http" and life.child is not None and life.child.status == 404
        if expired:
            life.lost.set()
        closed = error.code == CONNECTION_CLOSED and error.error.message == "Connection closed"
        if expired or closed:
            with anyio.move_on_after(_AFTERMATH_SECONDS):
                await life.ended.wait()
            return self._unavailable(life, call_id, name, elapsed_ms)
        text = self.spec.redact(error.error.message)
        missing = f"Tool '{name}' not found"
        if text in (missing, f"Unknown tool: {name}", f"Tool {name} not found"):
            return failed(call_id, name, missing, "tool_not_found", UNLISTED_ACTION, elapsed_ms)
        code = "invalid_parameters" if error.code == INVALID_PARAMS else "tool_error"
        return failed(call_id, name, text, code, TOOL_ERROR_ACTION, elapsed_ms)

    def _unavailable(self, life: _Life, call_id: str, name: str, elapsed_ms: float = 0.0) -> ToolOutcome:
        text = f"server {self.spec.name!r} is gone"
        if known := self.failure or life.failure or self._lost:
            text += f": {known.reason}" + (f" (it last said: {known.stderr[-1]})" if known.stderr else "")
        return failed(call_id, name, text, "server_unavailable", _UNAVAILABLE_ACTION, elapsed_ms)

    def _failure(self, fault: Exception | None, child: Child, *, answered: bool) -> ServerFailure:
        from ._reasons import reason

        text = reason(fault, self.spec, child, answered=answered, timeout=self._connect_timeout)
        redact = self.spec.redact
        return ServerFailure(self.spec.name, redact(text), tuple(redact(line) for line in child.tail.lines))


def _answer(result: CallToolResult, protocol_version: str) -> Answer:
    return Answer(
        content=result.model_dump(mode="json", by_alias=True, exclude_none=True)["content"],
        is_error=result.is_error,
        structured=result.structured_content,
        has_structured="structured_content" in result.model_fields_set,
        wraps=protocol_version < _ANY_VALUE_SINCE,
        meta=result.meta,
    )


async def _first_of(*events: anyio.Event) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        for event in events:
            tasks.start_soon(wait, event)


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
