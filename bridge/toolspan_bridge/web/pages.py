"""Pages of lists: ``?limit=`` and ``?cursor=``, and ``next_cursor`` in the answer."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import Field

from .endpoint import Values
from .problems import Problem

T = TypeVar("T")
MOST = 1_000


class Page(Values):
    """Which part of a list is wanted."""

    limit: int | None = Field(
        None, ge=1, le=MOST, description="Most entries; without it all, up to 1,000 a page."
    )
    cursor: str | None = Field(None, max_length=2_000, description="next_cursor of the page before.")


def page_of(
    items: Sequence[T], page: Page, key: Callable[[T], tuple[Any, ...]], *, all_without_limit: bool = True
) -> tuple[list[T], str | None]:
    """The page of ``items``, which are sorted by ``key``, and the cursor of the next one.

    A cursor is the key of the last entry: entries that come or go meanwhile make no other one appear twice.
    Raises ``Problem`` for a cursor that is none.
    """
    after = _read(page.cursor)
    left = [item for item in items if after is None or _follows(key(item), after)]
    if page.limit is None and all_without_limit:
        return left, None
    most = page.limit or MOST
    found = left[:most]
    return found, cursor_of(key(found[-1])) if len(left) > most else None


def cursor_of(key: tuple[Any, ...]) -> str:
    """The cursor that goes on after ``key``, which is JSON."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode().rstrip("=")


def _follows(key: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    try:
        return key > after
    except TypeError:
        raise _no_cursor() from None


def _read(cursor: str | None) -> tuple[Any, ...] | None:
    if cursor is None:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise _no_cursor() from None
    if not isinstance(found, list) or not found:
        raise _no_cursor()
    return tuple(found)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # compared by _follows


def _no_cursor() -> Problem:
    return Problem(400, "cursor is not the next_cursor of a page: leave it out to begin anew", "bad_cursor")


def before_of(cursor: str | None) -> int | None:
    """The id in the cursor of a list by falling ids. Raises ``Problem`` for a cursor that is none."""
    found = _read(cursor)
    if found is None:
        return None
    number = found[0]
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1 << 62:
        raise _no_cursor()
    return number
