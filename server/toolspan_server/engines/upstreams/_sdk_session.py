"""One MCP session: negotiated, its calls made. The SDK is behind this module and its neighbours."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from importlib.metadata import version
from typing import Any, ClassVar, cast

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolResult,
    Implementation,
    Notification,
    Request,
)
from pydantic import RootModel, ValidationError

from ._changes import hear_of_changes, hear_of_resources
from ._channel import PROBE_SECONDS, Channel
from ._http import http_streams, sse_streams
from ._list_pages import read_pages
from ._listed_tool import Bounds, Listing
from ._listener import Listener
from ._results import (
    InputNeeded,
    InputResponses,
    PeerError,
    UnusableAnswer,
    UpstreamResult,
    result_of,
)
from ._spec import ServerSpec
from ._stdio import stdio_streams
from ._wire import wire_of
from .child.process import Child
from .child.stderr_tail import StderrTail
from .limits.answers import is_refusal
from .limits.bounded_json import finite

__all__ = [
    "call_tool",
    "hear_of_changes",
    "hear_of_resources",
    "list_tools",
    "notify",
    "open_session",
    "request",
    "set_log_level",
]

_MODERN = "2026-07-28"
_RESERVED = "io.modelcontextprotocol/"


class _Whole(RootModel[dict[str, Any]]):
    """A result as it came."""


class _TaskRequest(Request[dict[str, Any], str]):
    """A request about a task, which is also named in the header ``Mcp-Name`` (MCP extension tasks,
    SEP-2663)."""

    name_param: ClassVar[str | None] = "taskId"


def _without_traceback(record: logging.LogRecord) -> bool:
    """Whether to log it: not the tracebacks of what a server sent, which would fill the log."""
    return not record.exc_info or logging.getLogger(record.name).isEnabledFor(logging.DEBUG)


for _name in ("mcp", "client", "httpx2"):
    # Without a handler of the user's, the SDK's tracebacks would reach the terminal.
    logging.getLogger(_name).addHandler(logging.NullHandler())
for _name in ("mcp.client.streamable_http", "mcp.client.sse"):
    logging.getLogger(_name).addFilter(_without_traceback)


@asynccontextmanager
async def open_session(
    spec: ServerSpec, child: Child, listener: Listener | None = None
) -> AsyncGenerator[tuple[ClientSession, Channel]]:
    """A negotiated session with the server; its transport ends with the block.

    A subprocess that ends at the discovery, which servers from before 2026 do not know, is started once more
    and greeted as it was then.
    """
    async with AsyncExitStack() as stack:
        with _sdk_errors_translated():
            session, channel = await _enter(stack, spec, child, listener)
            try:
                await _negotiate(session)
            except MCPError as error:
                if spec.kind != "stdio" or not PeerError(error.code, error.error.message).is_end:
                    raise
                await stack.aclose()
                child.tail = StderrTail()  # what it said is said again, if that was its end
                session, channel = await _enter(stack, spec, child, listener)
                await session.initialize()
        yield session, channel


async def _enter(
    stack: AsyncExitStack, spec: ServerSpec, child: Child, listener: Listener | None
) -> tuple[ClientSession, Channel]:
    """A session in ``stack`` that is not negotiated yet, with a server that was started for it."""
    read, write = await stack.enter_async_context(_streams(spec, child))
    # Over HTTP every question is answered, if only by a status; a subprocess may ignore one that it does not
    # know.
    seconds = PROBE_SECONDS if spec.kind == "stdio" else None
    channel = Channel(read, write, listener, child.allowance, child.unowned, seconds, wire_of(spec))
    info = Implementation(name="toolspan", version=version("toolspan"))
    session = ClientSession(dispatcher=channel, client_info=info)
    return await stack.enter_async_context(session), channel


@contextmanager
def _sdk_errors_translated() -> Generator[None]:
    """Raise the SDK's error as ``PeerError``, or as ``UnusableAnswer``."""
    try:
        yield
    except MCPError as error:
        if is_refusal(error.error):
            raise UnusableAnswer(error.error.message) from None
        raise PeerError(error.code, error.error.message, error.error.data) from None


async def list_tools(session: ClientSession, channel: Channel, bounds: Bounds) -> Listing:
    """Every tool of the server, within ``bounds``; raises ``PeerError``."""
    with _sdk_errors_translated():
        return await read_pages(session, channel, bounds)


async def call_tool(
    session: ClientSession,
    name: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any],
    again: InputResponses | None,
) -> UpstreamResult | InputNeeded:
    """The server's answer to one call. Raises ``PeerError``, or ``ValueError`` if it is none.

    Of ``meta``, what the protocol's revision does not know is left out.
    """
    protocol_version = session.protocol_version or ""
    is_modern = protocol_version >= _MODERN
    params: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
    if carried := {key: value for key, value in meta.items() if is_modern or not key.startswith(_RESERVED)}:
        params["_meta"] = carried
    if again is not None:
        params |= {"inputResponses": dict(again.responses)} if again.responses else {}
        params |= {"requestState": again.state} if again.state is not None else {}
    request = Request[dict[str, Any], str](method="tools/call", params=params)
    with _sdk_errors_translated():
        result = (await session.send_request(request, _Whole)).root
    if is_modern and result.get("resultType") == "input_required":
        return _input_needed(result)
    if is_modern and result.get("resultType") == "task":
        return result_of(result)
    return _answer(result, wraps=not is_modern)


async def request(session: ClientSession, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of any request. Raises ``PeerError``, or ``ValueError`` where it is no object."""
    kind = _TaskRequest if method.startswith("tasks/") else Request[dict[str, Any], str]
    message = kind(method=method, params=dict(params))
    with _sdk_errors_translated():
        return (await session.send_request(message, _Whole)).root


async def notify(session: ClientSession, method: str) -> None:
    """Send a notification without parameters, in the eras in which clients send any."""
    if (session.protocol_version or "") < _MODERN:
        notification: Any = Notification[None, str](method=method, params=None)
        await session.send_notification(notification)


async def set_log_level(session: ClientSession, level: str) -> None:
    """Ask for log messages from ``level`` on, where that is a request of its own and the server logs."""
    capabilities = session.server_capabilities
    logs = capabilities is not None and capabilities.logging is not None
    if logs and (session.protocol_version or "") < _MODERN:
        with suppress(PeerError, ValueError):
            await request(session, "logging/setLevel", {"level": level})


def _answer(result: Mapping[str, Any], *, wraps: bool) -> UpstreamResult:
    checked = CallToolResult.model_validate(result, by_name=False)
    blocks = cast("list[dict[str, Any]]", result["content"])
    return UpstreamResult(
        content=[{key: value for key, value in block.items() if value is not None} for block in blocks],
        is_error=checked.is_error,
        structured=finite(checked.structured_content),
        has_structured="structured_content" in checked.model_fields_set,
        wraps=wraps,
        meta=checked.meta,
    )


def _input_needed(result: Mapping[str, Any]) -> InputNeeded:
    requests = cast("Mapping[str, Any]", result.get("inputRequests") or {})
    state = result.get("requestState")
    if not requests and state is None:
        raise ValueError("input is required, but neither requests nor a state are given")
    return InputNeeded(requests, state)


def _streams(spec: ServerSpec, child: Child) -> AbstractAsyncContextManager[Any]:
    if spec.kind == "stdio":
        return stdio_streams(spec, child)
    return http_streams(spec, child) if spec.kind == "http" else sse_streams(spec, child)


async def _negotiate(session: ClientSession) -> None:
    """The newest revision that both sides speak: 2026-07-28 by discovery, the older ones by handshake."""
    try:
        await session.discover()
    except MCPError as error:
        if PeerError(error.code, error.error.message).is_end:  # servers use the code for other things too
            raise
    except (ValidationError, RuntimeError):
        pass
    else:
        return
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # Slow to start, it has answered the discovery meanwhile, and with that speaks 2026-07-28 only.
        await session.discover()
