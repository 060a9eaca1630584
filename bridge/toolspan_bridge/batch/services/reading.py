"""How answers of batch services are read: JSON objects, JSON lines, and the places of requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolspan_server.common.json_values import read_foreign_json

from ...errors import ProviderError
from ...providers.wire.json_types import is_list, is_object

__all__ = [
    "MAX_RESULTS",
    "count",
    "json_lines",
    "json_object",
    "name_of",
    "objects",
    "part",
    "place_of",
    "text",
]

MAX_RESULTS = 1024 * 1024 * 1024
"""The largest file of results that is read, in bytes."""


def json_object(content: bytes, what: str) -> dict[str, Any]:
    """The JSON object in ``content``. Raises ``ProviderError`` when ``what`` is none."""
    try:
        value = read_foreign_json(content)
    except ValueError:
        value = None
    if not is_object(value):
        raise ProviderError(f"{what} is no JSON object: {content[:200].decode(errors='replace')!r}")
    return dict(value)


def json_lines(content: bytes, what: str) -> Iterator[dict[str, Any]]:
    """The JSON object of each line that is not blank. Raises ``ProviderError`` for another."""
    for line in content.splitlines():
        if line.strip():
            yield json_object(line, what)


def part(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The object under ``keys``; empty where there is none."""
    for key in keys:
        inner = value.get(key)
        value = dict(inner) if is_object(inner) else {}
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [dict(item) for item in value if is_object(item)] if is_list(value) else []


def text(value: Any) -> str:
    """``value`` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A whole number, which Google writes as a text too; 0 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def name_of(place: int) -> str:
    """The id on the wire of the request at ``place``: legal at every provider, whatever its own id is."""
    return f"r{place}"


def place_of(name: Any, total: int) -> int | None:
    """The place of the request with this id on the wire; ``None`` where it is no request of ours."""
    written = text(name)
    digits = written[1:]
    if not (written.startswith("r") and digits.isascii() and digits.isdigit() and len(digits) <= 9):
        return None
    return int(digits) if int(digits) < total else None
