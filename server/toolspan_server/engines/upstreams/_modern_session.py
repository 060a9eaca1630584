"""A session with a server of our own, which speaks MCP 2026-07-28 as we do: without the SDK.

Requests are plain and need no handshake; the server's own requests are refused. Its notifications go to the
listener.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import anyio
from anyio.abc import Process

from ..._version import __version__
from ...common.lines import Lines, Overlong
from ...common.wire.json_rpc import JsonRpcWire
from ._listed_tool import Bounds, Listing, listed_tool
from ._listener import Listener, ToldOf
from ._results import (
    CONNECTION_CLOSED,
    InputNeeded,
    InputResponses,
    PeerError,
    UpstreamResult,
    result_of,
)
from ._spec import ServerSpec
from ._wire import wire_of
from .child.process import (
    BROKEN,
    Child,
    chunks,
    started,
)
from .limits.allowance import WRITE_SECONDS
from .limits.bounded_json import MAX_MESSAGE_BYTES, parsed

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "toolspan", "version": __version__},
    _CAPABILITIES: dict[str, Any](),
}
_SUBSCRIBE_SECONDS = 5.0
_NO_SUCH_METHOD = -32601
_PROBLEMS = "dev.toolspan/problems"
"""The key of a list's ``_meta`` by which a server of our own says what is missing from it."""
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


_Acknowledged = Callable[[Mapping[str, Any]], None]


class _Waiting:
    """A request without an answer yet."""

    def __init__(self, acknowledged: _Acknowledged | None) -> None:
        self.acknowledged = acknowledged
        self.done = anyio.Event()
        self.answer: dict[str, Any] = {}


class Session:
    """Asks the server on ``process``, any number of requests at a time. ``gone`` is set when it has left,
    ``changed`` when its tools have changed. ``wire`` is told of every message."""

    def __init__(
        self,
        process: Process,
        child: Child,
        listener: Listener | None = None,
        wire: JsonRpcWire | None = None,
    ) -> None:
        self.gone = anyio.Event()
        self.changed = anyio.Event()
        self._process = process
        self._child = child
        self._listener = listener
        self._wire = wire
        self._waiting: dict[int, _Waiting] = {}
        self._count = 0
        self._writing = anyio.Lock()

    async def request(
        self, method: str, params: Mapping[str, Any], acknowledged: _Acknowledged | None = None
    ) -> dict[str, Any]:
        """The result of ``method``. ``acknowledged`` is given what a subscription was granted. Raises
        ``PeerError``; cancelling cancels there."""
        self._count += 1
        number, waiting = self._count, _Waiting(acknowledged)
        self._waiting[number] = waiting
        try:
            able = {} if self._listener is None else {_CAPABILITIES: self._listener.capabilities(None)}
            with_meta = {**params, "_meta": {**_META, **able, **params.get("_meta", {})}}
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
            code, message = int(details.get("code", CONNECTION_CLOSED)), str(details.get("message", ""))
            raise PeerError(code, message, details.get("data"))
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
        if self._wire is not None:
            _tell_received(self._wire, line)
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
        elif isinstance(method := message.get("method"), str):
            self._hear(method, message.get("params"))

    def _acknowledge(self, params: Mapping[str, Any]) -> None:
        meta, granted = params.get("_meta"), params.get("notifications")
        number: Any = cast("dict[str, Any]", meta).get(_SUBSCRIPTION) if isinstance(meta, dict) else None
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is not None and waiting.acknowledged is not None:
            waiting.acknowledged(cast("dict[str, Any]", granted) if isinstance(granted, dict) else {})

    def _hear(self, method: str, params: Any) -> None:
        if method == "notifications/tools/list_changed":
            self.changed.set()
        elif method == _ACKNOWLEDGED:
            self._acknowledge(cast("dict[str, Any]", params or {}))
        elif self._listener is not None and isinstance(params, dict | None):
            self._listener.notify(method, cast("dict[str, Any]", params or {}), None)

    async def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        if self._wire is not None:
            self._wire.sent(line[:-1])
        try:
            async with self._writing:
                with anyio.fail_after(WRITE_SECONDS):
                    await self._process.stdin.send(line)
        except TimeoutError:
            self._child.allowance.exceed(f"it did not read what was sent to it for {WRITE_SECONDS:g} s")
            raise PeerError(CONNECTION_CLOSED, "Connection closed") from None
        except BROKEN:
            raise PeerError(CONNECTION_CLOSED, "Connection closed") from None


def _tell_received(wire: JsonRpcWire, line: bytes | Overlong) -> None:
    if isinstance(line, Overlong):
        wire.note("a line that is too long; its beginning", sent=False, body=line.head)
    elif line.strip():
        wire.received(line)


@asynccontextmanager
async def open_session(
    spec: ServerSpec, child: Child, listener: Listener | None = None
) -> AsyncGenerator[tuple[Session, Session]]:
    """A session with the server, which is started and ends with the block."""
    async with anyio.create_task_group() as tasks, started(spec, child) as process:
        session = Session(process, child, listener, wire_of(spec))
        tasks.start_soon(session.listen)
        yield session, session
        tasks.cancel_scope.cancel()


async def list_tools(session: Session, channel: Session, bounds: Bounds) -> Listing:
    """Every tool of the server, within ``bounds``; raises ``PeerError``."""
    listing = Listing()
    names: set[str] = set()
    cursor: str | None = None
    for _ in range(bounds.pages):
        page = await session.request("tools/list", {} if cursor is None else {"cursor": cursor})
        found = [listed_tool(entry) for entry in cast("list[Any]", page.get("tools") or [])]
        tools = [tool for tool in found if not isinstance(tool, str)]
        if cursor == "" and names.issuperset(tool.name for tool in tools):
            return listing  # the first page again: some servers mean the end by an empty cursor
        names.update(tool.name for tool in tools)
        listing.tools += tools
        listing.warnings += [f"a tool left out: {tool}" for tool in found if isinstance(tool, str)]
        cursor = page.get("nextCursor")
        listing.warnings += [each for each in _problems(page) if each not in listing.warnings]
        if cursor is None or len(listing.tools) > bounds.tools:
            break
    if cursor is not None or len(listing.tools) > bounds.tools:
        del listing.tools[bounds.tools :]
        listing.warnings.append(f"more than {bounds.tools} tools: the rest was left out")
        listing.whole = False
    return listing


def _problems(page: Mapping[str, Any]) -> list[str]:
    """What a toolspan server says that it left out of the list; nothing of another shape is read."""
    meta: Any = page.get("_meta")
    if not isinstance(meta, Mapping):
        return []
    told: Any = cast("Mapping[str, Any]", meta).get(_PROBLEMS)
    if not isinstance(told, list):
        return []
    problems = cast("Sequence[Any]", told)
    return [str(each) for each in problems]


async def request(session: Session, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of any request. Raises ``PeerError``, or ``ValueError`` where it is no object."""
    return await session.request(method, params)


async def notify(session: Session, method: str) -> None:
    """Nothing: in this era clients send no notifications but cancellations."""


async def hear_of_changes(session: Session, channel: Session) -> None:
    """Set ``channel.changed`` when the server's tools change, until cancelled or the server refuses.

    Subscribing is work for a server, which few sessions are long enough for: it waits a while. Lists that
    changed before are read then.
    """
    await anyio.sleep(_SUBSCRIBE_SECONDS)
    notifications = {"toolsListChanged": True}
    channel.changed.set()
    with suppress(PeerError, ValueError):
        await session.request("subscriptions/listen", {"notifications": notifications})


async def hear_of_resources(
    session: Session, channel: Session, uris: Sequence[str], before: Set[str], told_of: ToldOf
) -> None:
    """Have the server tell of changes of ``uris``, until cancelled; the session's listener hears of each.
    Raises ``PeerError``."""
    notifications = {"resourceSubscriptions": list(uris)}

    def acknowledged(honored: Mapping[str, Any]) -> None:
        listed: Any = honored.get("resourceSubscriptions")
        told_of(cast("list[str]", listed) if isinstance(listed, list) else ())

    await session.request("subscriptions/listen", {"notifications": notifications}, acknowledged)
    told_of(())  # the server ended it


async def set_log_level(session: Session, level: str) -> None:
    """Nothing: in this era each call says which messages it wants."""


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
    return result_of(result)
