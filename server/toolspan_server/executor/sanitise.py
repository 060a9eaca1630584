"""The last step of a result: plain JSON, no secret, no larger than the limit."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio.to_thread

from .._plain import Copier, NotPlain, OverBudget, dotted
from ..content import ABSENT, Block, Content
from ..context import Context
from ..errors import ToolFailure
from ._chain import Step

_QUICK_VALUES = 10_000
_QUICK_BYTES = 1_000_000
_MOST_VALUES = 100_000
_MOST_BYTES = 16 << 20
_WORST_ESCAPE = 6
_FIX = "Report it to whoever maintains the tool: it must return JSON values."


def sanitised(following: Step, max_bytes: int, redact: Callable[[str], str] | None = None) -> Step:
    r"""Let out of ``following`` only plain JSON of at most ``max_bytes`` bytes.

    Tuples become arrays and lone surrogates ``\udXXX``; every text passes ``redact``. What JSON
    cannot hold (NaN, sets, objects, more than 64 levels) is a ``ToolFailure`` that names the field.
    A result that is too large is cut and marked; if it isn't a text, it becomes its JSON, cut.
    """

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        result = await following(arguments, context)
        if isinstance(result, Content):
            return await content_sent(result, max_bytes, redact)
        try:
            return _sent(result, max_bytes, Copier(_QUICK_VALUES, _QUICK_BYTES, on_text=redact))
        except OverBudget:
            values, size = max(_MOST_VALUES, max_bytes // 2), max(_MOST_BYTES, max_bytes)
            whole = Copier(values, size, on_text=redact, partial=True)
            return await anyio.to_thread.run_sync(partial(_sent, result, max_bytes, whole))

    return step


async def content_sent(content: Content, max_bytes: int, redact: Callable[[str], str] | None) -> Content:
    """``content`` as ``sanitised`` lets it out. Raises ``ToolFailure`` when JSON cannot hold it."""
    return await anyio.to_thread.run_sync(partial(_content_sent, content, max_bytes, redact))


def _content_sent(content: Content, max_bytes: int, redact: Callable[[str], str] | None) -> Content:
    """``content`` as plain JSON within ``max_bytes``: what does not fit any more is said to be missing."""
    left = max_bytes
    blocks: list[Block] = []
    for block in content.blocks:
        plain = _whole_copy(dict(block), max_bytes, redact)
        size = len(json.dumps(plain, ensure_ascii=False).encode())
        if size > left:
            blocks.append(_instead_of(plain, left, size, max_bytes))
            break
        left -= size
        blocks.append(plain)
    structured = content.structured
    if structured is not ABSENT:
        structured = _whole_copy(structured, max_bytes, redact)
        if len(json.dumps(structured, ensure_ascii=False).encode()) > max_bytes:
            structured = ABSENT
    return Content(tuple(blocks), structured, _whole_copy(dict(content.meta), max_bytes, redact))


def _whole_copy(value: Any, max_bytes: int, redact: Callable[[str], str] | None) -> Any:
    values, size = max(_MOST_VALUES, max_bytes // 2), max(_MOST_BYTES, max_bytes)
    copier = Copier(values, size, on_text=redact, partial=True)
    try:
        return copier.copy(value)
    except NotPlain as fault:
        field = f" in '{dotted(fault.path)}'" if fault.path else ""
        raise ToolFailure(f"The tool gave content{field} that {fault.what}", user_action=_FIX) from None


def _instead_of(block: Block, left: int, size: int, max_bytes: int) -> Block:
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str):
        return {**block, "text": cut(text, left, f"{size:,}")}
    kind = block.get("type", "content")
    return {
        "type": "text",
        "text": f"[left out here: {kind} of {size:,} bytes; the limit of a result is {max_bytes:,}]",
    }


def cut(text: str, max_bytes: int, total: str) -> str:
    """The start of ``text`` and a marker that names ``total``, in at most ``max_bytes`` bytes of JSON."""
    marker = f"\n[cut here: the whole result has {total} bytes, the limit is {max_bytes:,}]"
    room = max(0, max_bytes - _json_size(marker))
    start = text[:room]
    while (size := _json_size(start)) > room:
        start = start[: min(len(start) - 1, len(start) * room // size)]
    return start + marker


def _sent(result: Any, max_bytes: int, copier: Copier) -> Any:
    try:
        plain = copier.copy(result)
    except NotPlain as fault:
        field = f" in '{dotted(fault.path)}'" if fault.path else ""
        raise ToolFailure(f"The tool gave a result{field} that {fault.what}", user_action=_FIX) from None
    if copier.size * _WORST_ESCAPE <= max_bytes and not copier.full:
        return plain
    if isinstance(plain, str):
        fits = len(plain) <= max_bytes and _json_size(plain) <= max_bytes
        return plain if fits else cut(plain, max_bytes, f"{len(plain.encode()):,}")
    text = json.dumps(plain, ensure_ascii=False)
    size = len(text.encode())
    if size <= max_bytes and not copier.full:
        return plain
    return cut(text, max_bytes, f"more than {size:,}" if copier.full else f"{size:,}")


def _json_size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())
