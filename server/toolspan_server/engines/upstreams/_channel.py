"""The SDK's dispatcher with what a client of any server needs besides."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterable, Mapping
from functools import partial
from typing import Any, cast

import anyio
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import CLIENT_CAPABILITIES_META_KEY, REQUEST_TIMEOUT
from typing_extensions import override

from ...common.slices import in_slices
from ...common.wire.json_rpc import JsonRpcWire
from ._attempt import attempt_within
from ._listed_tool import Bounds, ListedTool, listed_tool
from ._listener import CURRENT_CALL, Listener, RefusedQuestion
from .limits.allowance import Allowance
from .limits.metered_streams import MeteredReading, MeteredWriting
from .limits.unowned import Unowned

PROBE_SECONDS = 4.0
_QUESTIONS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
MAX_BLOCKS = 2_000
"""Most content blocks of one result: each is checked, and nothing else is done meanwhile."""

_HEADERS = "x-mcp-header"


class Channel(JSONRPCDispatcher[TransportContext]):
    """Tells when the other side is ``gone``, and when its tools have ``changed``.

    The tools of the list that was asked for last are in ``page``, but for malformed ones, so that one of them
    does not lose the rest. The SDK sees only those that name headers, since it knows what to do about
    them: it would check all of them at once, twice. What the server says
    and asks goes to ``listener`` first. A server that sends more than ``allowance`` is heard no more.
    ``wire`` is told of every message.
    """

    def __init__(
        self,
        read: Any,
        write: Any,
        listener: Listener | None = None,
        allowance: Allowance | None = None,
        unowned: Unowned | None = None,
        probe_seconds: float | None = PROBE_SECONDS,
        wire: JsonRpcWire | None = None,
    ) -> None:
        self._allowance = allowance or Allowance()
        writing = MeteredWriting(write, self._allowance, wire)
        self._read = MeteredReading(read, self._allowance, writing, unowned or Unowned(), wire)
        super().__init__(self._read, writing)
        self.gone = anyio.Event()
        self.changed = anyio.Event()
        self.left_out: list[str] = []
        self.page: list[ListedTool] = []
        self.with_headers: frozenset[str] = frozenset()
        self.most_tools = Bounds().tools
        self._listener = listener
        self._probe_seconds = probe_seconds

    @override
    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        asked, heard = (
            partial(self._answer_request, on_request),
            partial(self._on_notification, on_notify_intercept),
        )
        try:
            await super().run(asked, on_notify, heard, task_status=task_status)
        finally:
            self.gone.set()

    @override
    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: str | int | None = None,
    ) -> dict[str, Any]:
        if self._listener is not None:
            params = _declaring(method, params or {}, self._listener.capabilities(CURRENT_CALL.get()))
        if method == "server/discover" and opts is not None:
            opts = {**opts}
            opts.pop("timeout", None)  # the SDK's own, which also runs while a person signs in
        asked = super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        seconds = self._probe_seconds if method == "server/discover" else None
        result = await (asked if seconds is None else _probed(asked, seconds))
        if method == "tools/list" and isinstance(result.get("tools", []), list | None):
            with_headers = await self._sorted_out(cast("list[Any]", result.get("tools") or []))
            result = {**result, "tools": with_headers}
        if method == "tools/call" and isinstance(result.get("content"), list):
            result = {**result, "content": _as_many_as_fit(cast("list[Any]", result["content"]))}
        return result

    def _on_notification(
        self, also: OnNotifyIntercept | None, method: str, params: Mapping[str, Any] | None
    ) -> bool:
        if also is not None and also(method, params):
            return True
        if method == "notifications/tools/list_changed":
            self.changed.set()
            return True
        if self._listener is None:
            return False
        sent_in = self._read.last_context
        call = None if sent_in is None else sent_in.get(CURRENT_CALL)
        return self._listener.notify(method, params or {}, call)

    def resource_changed(self, uri: str) -> None:
        """Tell the listener that the resource has changed, as a subscription of 2026-07-28 said."""
        if self._listener is not None:
            self._listener.notify("notifications/resources/updated", {"uri": uri}, None)

    def lists_changed(self, lists: Iterable[str]) -> None:
        """Tell the listener that these lists have changed, as a subscription of 2026-07-28 said."""
        for each in lists:
            if self._listener is not None and each != "tools":
                self._listener.notify(f"notifications/{each}/list_changed", {}, None)

    async def _answer_request(
        self,
        otherwise: OnRequest,
        context: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        try:
            if self._listener is None or method not in _QUESTIONS:
                return await otherwise(context, method, params)
            return await self._listener.answer(method, params or {}, CURRENT_CALL.get())
        except RefusedQuestion as refused:
            raise MCPError(code=refused.code, message=refused.message) from None
        finally:
            if context.cancel_requested.is_set():  # it is not answered
                self._allowance.end(context.request_id)

    async def _sorted_out(self, tools: list[Any]) -> list[dict[str, Any]]:
        """Put the tools that can be used into ``page``; those that name headers."""
        self.page = []
        with_headers: list[dict[str, Any]] = []
        async for tool in in_slices(tools[: self.most_tools + 1]):
            listed = listed_tool(tool)
            if isinstance(listed, str):
                name = cast("Any", tool).get("name") if isinstance(tool, dict) else None
                position = len(self.page) + len(self.left_out) + 1
                self.left_out.append(f"tool {name!r} (no. {position}) left out: {listed}")
                continue
            if _HEADERS in json.dumps(listed.schema):
                with_headers.append({"name": listed.name, "inputSchema": listed.schema})
            self.page.append(listed)
        self.with_headers = frozenset(tool["name"] for tool in with_headers)
        return with_headers


async def _probed(answer: Awaitable[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """The answer of a server that may be older than the question, and not answer it at all."""
    try:
        with attempt_within(seconds):
            return await answer
    except TimeoutError:
        raise MCPError(code=REQUEST_TIMEOUT, message="no answer in time") from None


def _declaring(method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` with ``capabilities`` in place of those that the SDK declares, if it does."""
    sent = dict(params)
    if method == "initialize":
        sent["capabilities"] = {name: each for name, each in capabilities.items() if name != "extensions"}
    meta = cast("Any", params.get("_meta"))
    if isinstance(meta, Mapping) and CLIENT_CAPABILITIES_META_KEY in meta:
        sent["_meta"] = {**meta, CLIENT_CAPABILITIES_META_KEY: dict(capabilities)}
    return sent


def _as_many_as_fit(blocks: list[Any]) -> list[Any]:
    if len(blocks) <= MAX_BLOCKS:
        return blocks
    more = len(blocks) - MAX_BLOCKS
    missing = f"[left out here: {more:,} more blocks; a result has {MAX_BLOCKS:,} at most]"
    return [*blocks[:MAX_BLOCKS], {"type": "text", "text": missing}]
