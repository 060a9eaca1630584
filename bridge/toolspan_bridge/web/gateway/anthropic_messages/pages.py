"""Pages of a list, as Anthropic's clients ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..faults import RequestFault

__all__ = ["MOST", "page_of"]

MOST = 1_000
"""The most entries of a page."""


def page_of(ids: Sequence[str], query: Mapping[str, str]) -> tuple[slice, bool]:
    """Which of the entries with ``ids`` are on the page that ``query`` asks for (``limit``, ``after_id``,
    ``before_id``), and whether there are more that way. Raises ``RequestFault``."""
    limit = _limit(query.get("limit"))
    after, before = query.get("after_id"), query.get("before_id")
    if after and before:
        raise RequestFault("after_id and before_id exclude each other", param="after_id")
    if before:
        end = _place(ids, before, "before_id")
        begin = max(0, end - limit)
        return slice(begin, end), begin > 0
    begin = _place(ids, after, "after_id") + 1 if after else 0
    return slice(begin, begin + limit), begin + limit < len(ids)


def _limit(written: str | None) -> int:
    if written is None:
        return MOST
    if not written.isascii() or not written.isdigit() or not 1 <= int(written[:5]) <= MOST:
        raise RequestFault(f"limit must be a whole number from 1 to {MOST:,}", param="limit")
    return int(written)


def _place(ids: Sequence[str], wanted: str, name: str) -> int:
    if wanted not in ids:
        raise RequestFault(f"{name}: there is no {wanted[:200]!r} in the list", param=name)
    return ids.index(wanted)
