"""JSON of lists that are too long to be kept: their entries are made while they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from typing_extensions import override

__all__ = ["StreamedList", "json_pieces"]

_PIECE = 64 * 1024


class StreamedList(list[Any]):
    """A list for ``json_pieces`` of ``count`` entries, which ``items`` gives each time that they are gone
    through."""

    def __init__(self, count: int, items: Callable[[], Iterable[Any]]) -> None:
        super().__init__()
        self._count = count
        self._items = items

    @override
    def __len__(self) -> int:
        return self._count

    @override
    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())


def json_pieces(data: object) -> Iterator[str]:
    """``data`` as the text that ``json.dumps`` makes of it with an indent of 2, and an end of the line."""
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(data):
        parts.append(part)
        size += len(part)
        if size >= _PIECE:
            yield "".join(parts)
            parts, size = [], 0
    yield "".join((*parts, "\n"))
