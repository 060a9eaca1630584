"""Markers and truncated content in place of results that are too large."""

from __future__ import annotations

import json

from ...calls.content import Block

_WORTH_A_START = 500
_LONGEST_KIND = 40


def json_size(value: object) -> int:
    """The size of ``value``, which is plain JSON data, in bytes of JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def cut(text: str, max_bytes: int, total: str) -> str:
    """The start of ``text`` and a marker that names ``total``, in at most ``max_bytes`` bytes of JSON.

    If there is no room for more, it is the marker alone, whatever its size.
    """
    return _cut_to(
        max_bytes, text, f"\n[cut here: the whole result has {total} bytes, the limit is {max_bytes:,}]"
    )


def cut_block(block: Block, size: int, left: int, max_bytes: int, more: int) -> Block:
    """The last block of a result: as much of ``block``, which has ``size`` bytes, as fits ``left`` bytes.

    Its marker names the missing content, including the ``more`` blocks after it.
    """
    after = f" and {more:,} more" if more else ""
    limit = f"the limit of a result is {max_bytes:,}"
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str):
        room = left - (size - json_size(text))
        if room >= _WORTH_A_START:
            marker = f"\n[cut here: a text of {size:,} bytes{after}; {limit}]"
            return {**block, "text": _cut_to(room, text, marker)}
    return _note(f"{_kind(block)} of {size:,} bytes{after}", limit)


def left_out(what: str, size: int, max_bytes: int) -> Block:
    """The block that reports that ``what``, of ``size`` bytes, is missing."""
    return _note(f"{what} of {size:,} bytes", f"the limit of a result is {max_bytes:,}")


def _note(missing: str, limit: str) -> Block:
    return {"type": "text", "text": f"[left out here: {missing}; {limit}]"}


def _kind(block: Block) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) and len(kind) <= _LONGEST_KIND else "content"


def _cut_to(max_bytes: int, text: str, marker: str) -> str:
    room = max(0, max_bytes - json_size(marker))
    start = text[:room]
    while start and (size := json_size(start)) > room:
        start = start[: min(len(start) - 1, len(start) * room // size)]
    return start + marker
