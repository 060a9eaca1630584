"""Lists in pages, with what a client may keep of them.

MCP 2026-07-28, server/utilities/pagination and server/utilities/caching.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import jsonrpc
from .tool_listing import PROBLEMS
from .wire import (
    INVALID_PARAMS,
    MODERN,
    ProtocolFault,
    render_tool,
)

if TYPE_CHECKING:
    from ...live.views import View

_LAYOUT = struct.Struct(">I8s4s")
_LENGTH = 24
_BEFORE_TOOLS = '{"tools":['
_KEYS = ("uri", "uriTemplate", "name")

Item = TypeVar("Item")


def _name(item: Any) -> str:
    return next(str(item[key]) for key in _KEYS if key in item)


def page(
    items: Sequence[Item], cursor: Any, size: int, name: Callable[[Item], str] = _name
) -> tuple[list[Item], str | None]:
    """The page of ``items`` after ``cursor`` (``None``: the first), and the next page's cursor, if any.

    ``name`` returns the identity of an item: by default the URI, URI template or name of one as
    MCP writes it. A cursor knows the last item that was given and how many came up to it: when the list
    has changed since, the page begins after that item, wherever it is now, or, when it is gone, where it was.

    Raises ``ProtocolFault`` for what is no cursor.
    """
    start = 0 if cursor is None else _start(items, cursor, name)
    end = start + size
    following = _cursor(end, name(items[end - 1])) if end < len(items) else None
    return list(items[start:end]), following


def paged(
    view: View, key: str, items: Sequence[Mapping[str, Any]], cursor: Any, version: str
) -> dict[str, Any]:
    """The result of a list method in that protocol version: a page of ``items`` under ``key``.

    ``items`` are as MCP writes them.
    Raises ``ProtocolFault`` for what is no cursor.
    """
    return _result(view, key, *page(items, cursor, view.config.limits.page_size), version)


def list_tools(view: View, cursor: Any, version: str) -> dict[str, Any]:
    """The result of ``tools/list``. Raises ``ProtocolFault`` for what is no cursor."""
    size = view.config.limits.page_size
    tools, following = page(view.listed, cursor, size, lambda tool: tool.name)
    listed = _result(view, "tools", [render_tool(tool) for tool in tools], following, version)
    return listed | ({"_meta": meta} if (meta := _problems(view)) else {})


def written_tools(view: View, version: str, meta: Mapping[str, Any]) -> str:
    """The first page of ``list_tools`` as JSON, with ``meta`` in its ``_meta``.

    Tools are written one by one: all that is made to write one is gone, and its memory at hand, for the next.
    """
    tools, following = page(view.listed, None, view.config.limits.page_size, lambda tool: tool.name)
    whole = {**meta, **_problems(view)}
    rest = jsonrpc.dumps(
        {**_result(view, "tools", (), following, version), **({"_meta": whole} if whole else {})}
    )
    written = ",".join([jsonrpc.dumps(render_tool(tool)) for tool in tools])
    return f"{_BEFORE_TOOLS}{written}{rest.removeprefix(_BEFORE_TOOLS)}"


def cache_hints(view: View, version: str) -> dict[str, Any]:
    """Further members of a complete result of a list or ``resources/read`` in that protocol version."""
    if version not in MODERN:
        return {}
    cache = view.config.serving.cache
    return {"resultType": "complete", "ttlMs": cache.ttl_ms, "cacheScope": cache.scope}


def _result(
    view: View, key: str, items: Sequence[Mapping[str, Any]], following: str | None, version: str
) -> dict[str, Any]:
    more = {} if following is None else {"nextCursor": following}
    return {key: list(items), **more, **cache_hints(view, version)}


def _problems(view: View) -> dict[str, Any]:
    problems = view.problems
    return {PROBLEMS: list(problems)} if problems else {}


def _cursor(end: int, last: str) -> str:
    return _written(end, _digest(last.encode("utf-8", "surrogatepass"), 8))


def _written(end: int, mark: bytes) -> str:
    return base64.urlsafe_b64encode(_LAYOUT.pack(end, mark, _check(end, mark))).decode()


def _start(items: Sequence[Item], cursor: Any, name: Callable[[Item], str]) -> int:
    end, mark = _read(cursor)

    def is_last(item: Item) -> bool:
        return _digest(name(item).encode("utf-8", "surrogatepass"), 8) == mark

    if end <= len(items) and is_last(items[end - 1]):
        return end
    found = next((index for index, item in enumerate(items, 1) if is_last(item)), None)
    return min(end, len(items)) if found is None else found


def _read(cursor: Any) -> tuple[int, bytes]:
    try:
        if not isinstance(cursor, str) or len(cursor) != _LENGTH:
            raise ValueError("not a cursor of this server")
        end, mark, _ = _LAYOUT.unpack(base64.b64decode(cursor, altchars=b"-_", validate=True))
        if not end or cursor != _written(end, mark):
            raise ValueError("not a cursor of this server")
    except (binascii.Error, struct.error, ValueError):
        message = "Invalid cursor: use the nextCursor of an earlier result, or none for the first page"
        raise ProtocolFault(INVALID_PARAMS, message) from None
    return end, mark


def _check(end: int, mark: bytes) -> bytes:
    return _digest(_LAYOUT.pack(end, mark, b""), 4)


def _digest(data: bytes, size: int) -> bytes:
    from hashlib import blake2b

    return blake2b(data, digest_size=size, person=b"toolspan").digest()
