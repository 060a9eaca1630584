"""A session with a server of our own, which speaks MCP 2026-07-28 as we do: without the SDK.

Requests are plain, need no handshake, and the server's own requests are refused, its notifications ignored.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
from anyio.abc import Process

from ..._version import __version__
from ...common.lines import Lines, Overlong
from ._allowance import WRITE_SECONDS
from ._bounded_json import MAX_MESSAGE_BYTES, parsed
from ._listed_tool import Bounds, listed_tool
from ._listener import Listener
from ._listing import Listing
from ._process import (
    BROKEN,
    Child,
    chunks,
    started,
)
from ._results import (
    CONNECTION_CLOSED,
    InputNeeded,
    InputResponses,
    PeerError,
    UpstreamResult,
)
from ._spec import ServerSpec

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "toolspan", "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": dict[str, Any](),
}
_NO_SUCH_METHOD = -32601


class _Waiting:
    """A request without an answer yet."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.answer: dict[str, Any] = {}


class Session:
    """Asks the server on ``process``, any number of requests at a time. ``gone`` is set when it has left."""

    def __init__(self, process: Process, child: Child) -> None:
        self.gone = anyio.Event()
        self.changed = anyio.Event()
        self._process = process
        self._child = child
        self._waiting: dict[int, _Waiting] = {}
        self._count = 0
        self._writing = anyio.Lock()

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of ``method``. Raises ``PeerError``; cancelling cancels there."""
        self._count += 1
        number, waiting = self._count, _Waiting()
        self._waiting[number] = waiting
        try:
            with_meta = {**params, "_meta": {**_META, **params.get("_meta", {})}}
            await self._send({"id": number, "method": method, "params": with_meta})
            await waiting.done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), suppress(PeerError):
                await self._send({"method": "notifications/cancelled", "params": {"requestId": number}})
            raise
        finally:
            del self._waiting[number]
        error: Any = waiting.answer.get("error")
        if isinstance(error, dict):
            details = cast("dict[str, Any]", error)
            raise PeerError(int(details.get("code", CONNECTION_CLOSED)), str(details.get("message", "")))
        result: Any = waiting.answer.get("result")
        if not isinstance(result, dict):
            raise ValueError("an answer without a result")
        return cast("dict[str, Any]", result)

    async def listen(self) -> None:
        """Read the server's messages until its output ends."""
        assert self._process.stdout is not None
        lines = Lines(MAX_MESSAGE_BYTES)
        try:
            with suppress(*BROKEN):
                async for chunk in chunks(self._process.stdout):
                    for line in lines.feed(chunk):
                        await self._take(line)
        finally:
            self.gone.set()
            for waiting in self._waiting.values():
                waiting.answer = {"error": {"code": CONNECTION_CLOSED, "message": "Connection closed"}}
                waiting.done.set()

    async def _take(self, line: bytes | Overlong) -> None:
        if isinstance(line, Overlong):
            self._child.tail.add(line.head, "stdout: ")
            return
        if not line.strip():
            return
        try:
            message = cast("dict[str, Any]", parsed(line))
            waiting = None if "method" in message else self._waiting.get(message.get("id", 0))
        except (ValueError, AttributeError, TypeError):
            self._child.tail.add(line, "stdout: ")
            return
        if waiting is not None:
            waiting.answer = message
            waiting.done.set()
            return
        self._child.allowance.unasked(1, len(line))
        if "method" in message and "id" in message:
            error = {"code": _NO_SUCH_METHOD, "message": f"Method not found: {message['method']}"}
            with suppress(PeerError):
                await self._send({"id": message["id"], "error": error})

    async def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        try:
            async with self._writing:
                with anyio.fail_after(WRITE_SECONDS):
                    await self._process.stdin.send(line)
        except TimeoutError:
            self._child.allowance.exceed(f"it did not read what was sent to it for {WRITE_SECONDS:g} s")
            raise PeerError(CONNECTION_CLOSED, "Connection closed") from None
        except BROKEN:
            raise PeerError(CONNECTION_CLOSED, "Connection closed") from None


@asynccontextmanager
async def open_session(
    spec: ServerSpec, child: Child, listener: Listener | None = None
) -> AsyncGenerator[tuple[Session, Session]]:
    """A session with the server, which is started and ends with the block. There is nobody to listen."""
    async with anyio.create_task_group() as tasks, started(spec, child) as process:
        session = Session(process, child)
        tasks.start_soon(session.listen)
        yield session, session
        tasks.cancel_scope.cancel()


async def list_tools(session: Session, channel: Session, bounds: Bounds) -> Listing:
    """Every tool of the server, within ``bounds``; raises ``PeerError``."""
    listing = Listing()
    cursor: str | None = None
    for _ in range(bounds.pages):
        page = await session.request("tools/list", {"cursor": cursor} if cursor else {})
        for entry in cast("list[Any]", page.get("tools") or []):
            tool = listed_tool(entry)
            if isinstance(tool, str):
                listing.warnings.append(f"a tool left out: {tool}")
            else:
                listing.tools.append(tool)
        cursor = page.get("nextCursor")
        if not cursor or len(listing.tools) > bounds.tools:
            break
    if cursor or len(listing.tools) > bounds.tools:
        del listing.tools[bounds.tools :]
        listing.warnings.append(f"more than {bounds.tools} tools: the rest was left out")
        listing.whole = False
    return listing


async def call_tool(
    session: Session,
    name: str,
    arguments: Mapping[str, Any],
    meta: Mapping[str, Any],
    again: InputResponses | None,
) -> UpstreamResult | InputNeeded:
    """The server's answer to one call. Raises ``PeerError``, or ``ValueError`` if it is none."""
    params: dict[str, Any] = {"name": name, "arguments": dict(arguments), "_meta": dict(meta)}
    if again is not None:
        params |= {"inputResponses": dict(again.responses)} if again.responses else {}
        params |= {"requestState": again.state} if again.state is not None else {}
    result = await session.request("tools/call", params)
    if result.get("resultType") == "input_required":
        return InputNeeded(result.get("inputRequests") or {}, result.get("requestState"))
    content: Any = result.get("content")
    if not isinstance(content, list):
        raise ValueError("an answer without content")
    return UpstreamResult(
        content=cast("list[dict[str, Any]]", content),
        is_error=result.get("isError") is True,
        structured=result.get("structuredContent"),
        has_structured="structuredContent" in result,
        meta=result.get("_meta"),
    )
