"""The filters: pure functions of a value, whose result is bounded by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import quote

from ._errors import RenderFailure

Filter = Callable[..., Any]


def filter_names() -> tuple[str, ...]:
    """Every filter's name, sorted."""
    return tuple(sorted([*FILTERS, "default"]))


def compact(value: Any) -> str:
    """``value`` as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_text(value: Any) -> str:
    """``value`` inside a text: itself when it is one, else compact JSON."""
    return value if isinstance(value, str) else compact(value)


def _length(value: Any) -> int:
    if isinstance(value, str | list | dict):
        return len(cast("Any", value))
    raise RenderFailure(f"'length' takes a text, a list or an object, not {compact(value)}")


def _join(value: Any, separator: str = ", ") -> str:
    if not isinstance(value, list):
        raise RenderFailure(f"'join' takes a list, not {as_text(value)[:100]!r}")
    items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]  # of anything
    return separator.join(map(as_text, items))


def _lower(value: Any) -> str:
    return as_text(value).lower()


def _trim(value: Any) -> str:
    return as_text(value).strip()


def _upper(value: Any) -> str:
    return as_text(value).upper()


def _urlencode(value: Any) -> str:
    return quote(as_text(value), safe="", errors="replace")


FILTERS: Mapping[str, tuple[Filter, bool]] = {
    "join": (_join, True),
    "json": (compact, False),
    "length": (_length, False),
    "lower": (_lower, False),
    "trim": (_trim, False),
    "upper": (_upper, False),
    "urlencode": (_urlencode, False),
}
"""Each filter by its name, and whether it takes a text as its argument. ``default`` is none of them: it
looks at whether there is a value."""
