"""MCP's shapes of tools and results, as plain data.

Sources: MCP 2024-11-05 … 2026-07-28, server/tools. ``structuredContent`` exists since 2025-06-18,
where it must be an object; since 2026-07-28 it is any JSON value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ...calls.results import ToolResult
from ...common.json_values import repaired, shortened
from ...tools.registry import Tool
from . import jsonrpc
from .tool_listing import described

INVALID_PARAMS = -32602
MODERN = frozenset({"2026-07-28"})
OBJECT_ONLY = frozenset({"2025-06-18", "2025-11-25"})


class ProtocolFault(Exception):
    """A request that the protocol itself refuses, by JSON-RPC ``code`` and ``message``."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ToolCall(NamedTuple):
    """A ``tools/call`` request: the tool's name, its arguments, the request's ``_meta``."""

    name: str
    arguments: dict[str, Any]
    meta: dict[str, Any]


def render_tool(tool: Tool) -> dict[str, Any]:
    """One entry of ``tools/list``; see ``described``."""
    return described(tool.config, tool.hints, tool.reach)


def read_call(params: Mapping[str, Any] | None) -> ToolCall:
    """What ``tools/call`` asks for; no arguments are ``{}``.

    Raises ``ProtocolFault`` when ``name`` is no string or ``arguments`` no object.
    """
    given = params or {}
    name, arguments = given.get("name"), given.get("arguments")
    if not isinstance(name, str):
        raise ProtocolFault(INVALID_PARAMS, "Invalid params: 'name' must be a string")
    if not isinstance(arguments, Mapping | None):
        raise ProtocolFault(INVALID_PARAMS, "Invalid params: 'arguments' must be an object")
    meta = given.get("_meta")
    return ToolCall(name, _object(arguments), _object(meta))


def unknown_tool(name: str) -> ProtocolFault:
    """What calling a tool that does not exist is answered with."""
    return ProtocolFault(INVALID_PARAMS, f"Tool '{repaired(shortened(name, 128))}' not found")


def render_result(result: ToolResult, protocol_version: str) -> dict[str, Any]:
    """The result of ``tools/call``: the tool's content blocks, or one text block and the same as data.

    The text of a success is compact JSON, save that a string is itself; of a failure it is the
    error object. ``_meta.execution_time_ms`` is milliseconds.
    """
    value: Any = result.result if result.success else result.as_dict()
    blocks = result.content
    rendered: dict[str, Any] = {
        "content": [{"type": "text", "text": _as_text(value)}] if blocks is None else list(blocks),
        "isError": not result.success,
        "_meta": {**(result.meta or {}), "execution_time_ms": result.execution_time_ms},
    }
    if protocol_version in MODERN:
        rendered["resultType"] = "complete"
    if not result.has_value:
        return rendered
    if protocol_version in MODERN:
        rendered["structuredContent"] = value
    elif protocol_version in OBJECT_ONLY:
        rendered["structuredContent"] = value if isinstance(value, dict) else {"result": value}
    return rendered


def encode_result(result: ToolResult, protocol_version: str, stamp: str = "") -> str:
    """``render_result`` as compact JSON; ``stamp`` is more of its ``_meta``, as JSON after a comma.

    The value, which goes out twice, is encoded once. Raises ``ValueError`` or ``TypeError`` when it is
    no plain JSON.
    """
    if result.content is not None or result.meta is not None:
        return _encode_blocks(result, protocol_version, stamp)
    value: Any = result.result if result.success else result.as_dict()
    whole = jsonrpc.dumps(value)
    text = whole if isinstance(value, str) else jsonrpc.quoted(whole)
    structured = ""
    if protocol_version in MODERN:
        structured = f',"structuredContent":{whole},"resultType":"complete"'
    elif protocol_version in OBJECT_ONLY:
        shown = whole if isinstance(value, dict) else f'{{"result":{whole}}}'
        structured = f',"structuredContent":{shown}'
    return (
        f'{{"content":[{{"type":"text","text":{text}}}],"isError":{"false" if result.success else "true"}'
        f'{structured},"_meta":{{"execution_time_ms":{result.execution_time_ms!r}{stamp}}}}}'
    )


def _encode_blocks(result: ToolResult, protocol_version: str, stamp: str) -> str:
    rendered = render_result(result, protocol_version)
    meta = jsonrpc.dumps(rendered.pop("_meta"))
    return f'{jsonrpc.dumps(rendered)[:-1]},"_meta":{meta[:-1]}{stamp}}}}}'


def _object(value: Any) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return jsonrpc.dumps(value)
