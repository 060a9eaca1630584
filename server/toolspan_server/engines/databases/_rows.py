"""The rows of a result, as many as fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._values import as_json, unique

if TYPE_CHECKING:
    from sqlalchemy import CursorResult, Row

MAX_BYTES = 16 << 20
"""About how many bytes the rows of one result may have; the row that exceeds it is the last."""

BUFFER = 64
"""How many rows of a streamed result are fetched at once."""

_OTHER_BYTES = 16


def fetched(result: CursorResult[Any], max_rows: int, stop: Callable[[], bool]) -> dict[str, Any]:
    """``{"rows": [{column: value}], "row_count", "truncated"}``. It ends early when ``stop`` returns True."""
    columns = unique(result.keys())
    rows: list[dict[str, Any]] = []
    size = 0
    truncated = False
    for row in result:
        if len(rows) == max_rows or size > MAX_BYTES or stop():
            truncated = True
            break
        rows.append(dict(zip(columns, map(as_json, row), strict=True)))
        size += _size(row)
    result.close()
    return {"rows": rows, "row_count": len(rows), "truncated": truncated}


def _size(row: Row[Any]) -> int:
    return sum(len(value) if isinstance(value, str | bytes) else _OTHER_BYTES for value in row)
