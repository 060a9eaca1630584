"""Jupyter notebooks (nbformat 4): their cells as text, and edits that keep a valid notebook valid.

Source of the rules: https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, cast

from ....errors import ToolFailure

CellType = Literal["code", "markdown", "raw"]

_INDENT = re.compile(r"\{\r?\n([ \t]+)")
_NUMBERED = re.compile(r"cell-(\d{1,6})\Z")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_IDS_SINCE = 5


class NotNotebook(ValueError):
    """A text that is no notebook of nbformat 4."""


@dataclass(slots=True)
class Notebook:
    """A notebook as its file has it. ``data`` is its JSON, whose key ``cells`` the edits change."""

    data: dict[str, Any]
    text: str

    @classmethod
    def parse(cls, text: str) -> Notebook:
        """The notebook in ``text``. Raises ``NotNotebook``."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotNotebook(f"it is no JSON ({error})") from None
        if not isinstance(data, dict):
            raise NotNotebook("it is no JSON object")
        known = cast("dict[str, Any]", data)
        if known.get("nbformat") != 4:
            raise NotNotebook(f"its nbformat is {known.get('nbformat')!r}, not 4")
        cells: Any = known.get("cells")
        if not isinstance(cells, list) or not all(map(_is_cell, cast("Sequence[Any]", cells))):
            raise NotNotebook("its cells are not as nbformat 4 has them")
        return cls(known, text)

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Its cells, in order."""
        return cast("list[dict[str, Any]]", self.data["cells"])

    def id_of(self, number: int) -> str:
        """The id of the cell with that index; ``cell-N`` where the file gives none."""
        found: Any = self.cells[number].get("id")
        return found if isinstance(found, str) else f"cell-{number}"

    def index(self, cell_id: str) -> int:
        """The index of a cell by its id, or by ``cell-N``, N being its index. Raises ``ToolFailure``."""
        ids = [self.id_of(number) for number in range(len(self.cells))]
        if cell_id in ids:
            return ids.index(cell_id)
        numbered = _NUMBERED.match(cell_id)
        if numbered and int(numbered[1]) < len(ids):
            return int(numbered[1])
        raise ToolFailure(
            f"The notebook has no cell {cell_id[:64]!r} (known: {', '.join(ids[:20]) or 'none'})",
            error_code="cell_not_found",
            user_action="Read the notebook and use one of its cells' ids.",
        )

    def replace(self, number: int, source: str, cell_type: CellType | None) -> str:
        """Give a cell another source, perhaps another type; its outputs are gone. Gives its id."""
        cell = self.cells[number]
        cell["source"] = _as_before(cell["source"], source)
        _fit(cell, cell_type or cast("CellType", cell["cell_type"]))
        return self.id_of(number)

    def insert(self, number: int, source: str, cell_type: CellType) -> str:
        """Put a new cell before the one with that index. Gives its id."""
        cell: dict[str, Any] = {"cell_type": cell_type}
        if self.data.get("nbformat_minor", 0) >= _IDS_SINCE:
            cell["id"] = self._new_id(source)
        cell["source"] = _as_before(self.cells[0]["source"] if self.cells else [], source)
        _fit(cell, cell_type)
        self.cells.insert(number, cell)
        return self.id_of(number)

    def delete(self, number: int) -> str:
        """Remove a cell. Gives its id."""
        found = self.id_of(number)
        del self.cells[number]
        return found

    def written(self) -> str:
        """The notebook's text, indented, escaped and ended as it was."""
        indent = _INDENT.match(self.text)
        text = json.dumps(
            self.data,
            ensure_ascii=self.text.isascii() and "\\u" in self.text,
            indent=None if indent is None else indent[1],
        )
        return text + self.text[len(self.text.rstrip()) :]

    def source(self, number: int) -> str:
        """The source of the cell with that index."""
        return _joined(self.cells[number]["source"])

    def _new_id(self, source: str) -> str:
        """An id that no cell has, the same each time for the same notebook and cell: so that what a person
        was shown of an edit can be compared with what is written."""
        taken = {self.id_of(number) for number in range(len(self.cells))}
        seeds = (f"{number}\n{source}\n{self.text}" for number in count())
        made = (hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:8] for seed in seeds)
        return next(each for each in made if each not in taken)


def cell_texts(notebook: Notebook) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Each cell as text, a line about it first, and its images as content blocks of MCP."""
    for number, cell in enumerate(notebook.cells):
        about = (
            f"cell {number + 1} of {len(notebook.cells)} · {cell['cell_type']} · id {notebook.id_of(number)}"
        )
        texts = [f"[{about}]", _joined(cell["source"])]
        images: list[dict[str, str]] = []
        outputs: Any = cell.get("outputs")
        for output in cast("Sequence[Any]", outputs) if isinstance(outputs, list) else ():
            if isinstance(output, dict) and (shown := _output(cast("dict[str, Any]", output), images)):
                texts += ["[output]", shown]
        yield "\n".join(texts), images


def _output(output: dict[str, Any], images: list[dict[str, str]]) -> str:
    if output.get("output_type") == "error":
        return _joined(output.get("traceback"), "\n") or f"{output.get('ename')}: {output.get('evalue')}"
    if "text" in output:
        return _joined(output["text"])
    data: Any = output.get("data")
    media = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    for sort in _IMAGES:
        if encoded := _joined(media.get(sort)):
            images.append({"type": "image", "mimeType": sort, "data": "".join(encoded.split())})
            return f"({sort})"
    return _joined(media.get("text/plain"))


def _joined(source: Any, between: str = "") -> str:
    if isinstance(source, list):
        return between.join(str(line) for line in cast("Sequence[Any]", source))
    return source if isinstance(source, str) else ""


def _as_before(before: Any, source: str) -> str | list[str]:
    """``source`` as a list of lines, or as one text where the notebook has that."""
    return source if isinstance(before, str) else source.splitlines(keepends=True)


def _fit(cell: dict[str, Any], cell_type: CellType) -> None:
    """Give ``cell`` the type and exactly the keys that a cell of that type has to have."""
    cell["cell_type"] = cell_type
    cell.setdefault("metadata", {})
    for name in ("execution_count", "outputs"):
        cell.pop(name, None)
    if cell_type == "code":
        cell.pop("attachments", None)
        cell["execution_count"] = None
        cell["outputs"] = []


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict):
        return False
    known = cast("dict[str, Any]", cell)
    has_type = known.get("cell_type") in ("code", "markdown", "raw")
    return has_type and isinstance(known.get("source"), str | list)
