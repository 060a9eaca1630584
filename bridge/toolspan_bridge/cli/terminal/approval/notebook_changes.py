"""What a call of ``NotebookEdit`` would change in a cell of a notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_NUMBERED = re.compile(r"cell-(\d{1,6})\Z")


def cell_change(text: str, arguments: Mapping[str, Any]) -> tuple[str | None, str | None] | None:
    """The source of the cell before and after a call with ``arguments``, on the notebook ``text``; ``None``
    in place of one for a new cell, or one that is removed.

    ``None`` in place of both where the notebook or the cell cannot be read.
    """
    mode, source = arguments.get("edit_mode", "replace"), arguments.get("new_source")
    if mode == "insert":
        return (None, source) if isinstance(source, str) else None
    before = _source(text, arguments.get("cell_id"))
    if before is None:
        return None
    if mode == "delete":
        return before, None
    return (before, source) if isinstance(source, str) else None


def _source(text: str, cell_id: Any) -> str | None:
    """The source of the cell with that id, or, as ``cell-N``, of the cell with the index N."""
    try:
        notebook: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found: Any = cast("dict[str, Any]", notebook).get("cells") if isinstance(notebook, dict) else None
    if not isinstance(found, list) or not isinstance(cell_id, str):
        return None
    cells = [
        cast("dict[str, Any]", each) if isinstance(each, dict) else {} for each in cast("list[object]", found)
    ]
    cell = next((each for each in cells if each.get("id") == cell_id), None)
    numbered = _NUMBERED.match(cell_id)
    if cell is None and numbered and int(numbered[1]) < len(cells):
        cell = cells[int(numbered[1])]
    source: Any = None if cell is None else cell.get("source")
    if isinstance(source, list):
        return "".join(str(line) for line in cast("list[object]", source))
    return source if isinstance(source, str) else None
