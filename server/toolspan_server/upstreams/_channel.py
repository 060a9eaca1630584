"""The SDK's dispatcher with what a client of any server needs besides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import anyio
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import CLIENT_CAPABILITIES_META_KEY
from typing_extensions import override

from ._listener import CURRENT_CALL, Listener, RefusedQuestion

_PROBE_SECONDS = 4.0
_QUESTIONS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
_CARRIED = ("title", "annotations", "outputSchema", "icons", "_meta")


class Channel(JSONRPCDispatcher[TransportContext]):
    """Tells when the other side is ``gone``, and when its tools have ``changed``.

    Malformed tools are taken out of its lists, so that one of them does not lose the rest; what a tool has
    besides name, description and parameters is kept aside in ``details``, unchecked. What the server says
    and asks goes to ``listener`` first.
    """

    def __init__(self, read: Any, write: Any, listener: Listener | None = None) -> None:
        super().__init__(read, write)
        self.gone = anyio.Event()
        self.changed = anyio.Event()
        self.left_out: list[str] = []
        self.details: dict[str, dict[str, Any]] = {}
        self._read = read
        self._listener = listener

    @override
    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        asked, heard = partial(self._asked, on_request), partial(self._heard, on_notify_intercept)
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
        if method == "server/discover":
            opts = {**(opts or {}), "timeout": _PROBE_SECONDS}
        if self._listener is not None:
            params = _declaring(method, params or {}, self._listener.capabilities(CURRENT_CALL.get()))
        result = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == "tools/list" and isinstance(result.get("tools"), list):
            result = {**result, "tools": self._well_formed(cast("list[Any]", result["tools"]))}
        return result

    def _heard(self, also: OnNotifyIntercept | None, method: str, params: Mapping[str, Any] | None) -> bool:
        if also is not None and also(method, params):
            return True
        if method == "notifications/tools/list_changed":
            self.changed.set()
            return True
        if self._listener is None:
            return False
        sent_in = getattr(self._read, "last_context", None)
        call = None if sent_in is None else sent_in.get(CURRENT_CALL)
        return self._listener.hear(method, params or {}, call)

    async def _asked(
        self,
        otherwise: OnRequest,
        context: DispatchContext[TransportContext],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        if self._listener is None or method not in _QUESTIONS:
            return await otherwise(context, method, params)
        try:
            return await self._listener.answer(method, params or {}, CURRENT_CALL.get())
        except RefusedQuestion as refused:
            raise MCPError(code=refused.code, message=refused.message) from None

    def _well_formed(self, tools: list[Any]) -> list[dict[str, Any]]:
        kept: list[dict[str, Any]] = []
        for position, tool in enumerate(tools):
            if fault := _fault(tool):
                name = cast("Any", tool).get("name") if isinstance(tool, dict) else None
                self.left_out.append(f"tool {name!r} (no. {position + 1}) left out: {fault}")
                continue
            needed = {key: tool[key] for key in ("name", "inputSchema")}
            described = isinstance(tool.get("description"), str)
            kept.append({**needed, "description": tool["description"]} if described else needed)
            self.details.setdefault(tool["name"], {key: tool[key] for key in _CARRIED if key in tool})
        return kept


def _declaring(method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` with ``capabilities`` in place of what the SDK says that we can do, where it says so."""
    told = dict(params)
    if method == "initialize":
        told["capabilities"] = dict(capabilities)
    meta = cast("Any", params.get("_meta"))
    if isinstance(meta, Mapping) and CLIENT_CAPABILITIES_META_KEY in meta:
        told["_meta"] = {**meta, CLIENT_CAPABILITIES_META_KEY: dict(capabilities)}
    return told


def _fault(tool: Any) -> str:
    if not isinstance(tool, dict):
        return "not an object"
    entry = cast("dict[str, Any]", tool)
    name, schema = entry.get("name"), entry.get("inputSchema")
    if not isinstance(name, str) or not 0 < len(name) <= 256:
        return "its name is no text of 1 to 256 characters"
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
        return 'its inputSchema is no schema with "type": "object"'
    return ""
