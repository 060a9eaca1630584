"""Jupyter notebooks (nbformat 4): their cells as text, and edits that keep a valid notebook valid.

Source of the rules: https://nbformat.readthedocs.io/en/latest/format_description.html
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, cast

from ....errors import ToolFailure

CellType = Literal["code", "markdown", "raw"]

_NUMBERED = re.compile(r"cell-(\d{1,6})\Z")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_IDS_SINCE = 5
_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_KEY = re.compile(r'\s*\{([ \t\r\n]*)"(?:[^"\\]|\\.)*"([ \t\r\n]*:[ \t\r\n]*)')
_DECODER = json.JSONDecoder()


class NotNotebook(ValueError):
    """A text that is no notebook of nbformat 4, or none that can be edited without changing more."""


@dataclass(slots=True)
class Notebook:
    """A notebook as its file has it. ``data`` is its JSON, ``text`` the file; an edit changes the text of one
    cell, and leaves every other character as it is: numbers, keys that nobody knows, white space.

    ``repeated`` are keys that an object has twice: the file says two things, and only one is in ``data``.
    """

    data: dict[str, Any]
    text: str
    repeated: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Notebook:
        """The notebook in ``text``. Raises ``NotNotebook``."""
        repeated: list[str] = []

        def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                repeated.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            return found

        try:
            data = json.loads(text, object_pairs_hook=unique)
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
        return cls(known, text, tuple(repeated))

    def check_clear(self) -> None:
        """Raise ``NotNotebook`` where an edit could mean, or lose, another part of the file than it seems."""
        if self.repeated:
            keys = ", ".join(repr(key[:64]) for key in self.repeated[:5])
            raise NotNotebook(f"an object in it has a key twice ({keys}), and an edit would drop one")
        ids = Counter(self.id_of(number) for number in range(len(self.cells)))
        if twice := [cell_id for cell_id, count in ids.items() if count > 1]:
            raise NotNotebook(f"several of its cells have the id {twice[0][:64]!r}")

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
        start, end = self._spans()[1][number]
        kept = dict(_members(self.text, start))
        untouched = {key: kept[key] for key in cell if key in kept and key not in _OF_AN_EDIT}
        self._splice(start, end, self._rendered(cell, untouched))
        return self.id_of(number)

    def insert(self, number: int, source: str, cell_type: CellType) -> str:
        """Put a new cell before the one with that index. Gives its id."""
        cell: dict[str, Any] = {"cell_type": cell_type}
        if self.data.get("nbformat_minor", 0) >= _IDS_SINCE:
            cell["id"] = self._new_id(source)
        cell["source"] = _as_before(self.cells[0]["source"] if self.cells else [], source)
        _fit(cell, cell_type)
        (first, last), spans = self._spans()
        rendered, between = self._rendered(cell, {}), self._layout.break_before(_CELL_DEPTH)
        if number < len(spans):
            self._splice(spans[number][0], spans[number][0], f"{rendered},{between or ' '}")
        elif spans:
            self._splice(spans[-1][1], spans[-1][1], f",{between or ' '}{rendered}")
        else:
            self._splice(first + 1, last - 1, between + rendered + self._layout.break_before(_CELL_DEPTH - 1))
        self.cells.insert(number, cell)
        return self.id_of(number)

    def delete(self, number: int) -> str:
        """Remove a cell. Gives its id."""
        found = self.id_of(number)
        (first, last), spans = self._spans()
        if number + 1 < len(spans):
            self._splice(spans[number][0], spans[number + 1][0], "")
        elif number:
            self._splice(spans[number - 1][1], spans[number][1], "")
        else:
            self._splice(first + 1, last - 1, "")
        del self.cells[number]
        return found

    @property
    def _layout(self) -> _Layout:
        return _Layout.of(self.text)

    def _spans(self) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Where in the text the list of cells lies, and each of them."""
        start = next(start for key, start, _ in _values(self.text, 0) if key == "cells")
        cells = [(at, end) for _, at, end in _values(self.text, start)]
        _, end = _DECODER.raw_decode(self.text, start)
        return (start, end), cells

    def _splice(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def _rendered(self, cell: dict[str, Any], untouched: Mapping[str, str]) -> str:
        """The text of ``cell``, in which the values of ``untouched`` keys are these texts."""
        layout = self._layout
        members = [
            json.dumps(key) + layout.colon + (untouched.get(key) or layout.dumped(value, _CELL_DEPTH + 1))
            for key, value in cell.items()
        ]
        inside = layout.break_before(_CELL_DEPTH + 1)
        return f"{{{inside}{f',{inside or chr(32)}'.join(members)}{layout.break_before(_CELL_DEPTH)}}}"

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


_CELL_DEPTH = 2
_OF_AN_EDIT = ("cell_type", "source", "outputs", "execution_count")


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a JSON text: what comes between a key and its value, the indentation of one level (none:
    all is on one line), the end of lines, and whether other characters than ASCII are escaped."""

    colon: str
    indent: str | None
    newline: str
    ascii_only: bool

    @classmethod
    def of(cls, text: str) -> _Layout:
        first = _FIRST_KEY.match(text)
        space, colon = ("", ": ") if first is None else first.groups()
        newline = "\r\n" if "\r\n" in space else "\n"
        indent = space.rpartition("\n")[2] if "\n" in space else None
        return cls(colon, indent, newline, text.isascii() and "\\u" in text)

    def break_before(self, depth: int) -> str:
        """The end of a line and the indentation of the next, which is so deep."""
        return "" if self.indent is None else self.newline + self.indent * depth

    def dumped(self, value: Any, depth: int) -> str:
        """``value`` as JSON that begins so deep."""
        text = json.dumps(value, ensure_ascii=self.ascii_only, indent=self.indent)
        return text if self.indent is None else text.replace("\n", self.break_before(depth))


def _values(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The values in the object or list that begins at ``start`` in valid JSON: each with its key, empty in a
    list, and where it begins and ends."""
    at = _after_space(text, start)
    is_object = text[at] == "{"
    at = _after_space(text, at + 1)
    while text[at] not in "}]":
        key = ""
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield key, at, end
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _members(text: str, start: int) -> Iterator[tuple[str, str]]:
    """The members of the object that begins at ``start``: each key with the text of its value."""
    return ((key, text[at:end]) for key, at, end in _values(text, start))


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


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
    if cell_type == "code":
        cell.pop("attachments", None)
        cell["execution_count"] = None
        cell["outputs"] = []
        return
    for name in ("execution_count", "outputs"):
        cell.pop(name, None)


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict):
        return False
    known = cast("dict[str, Any]", cell)
    has_type = known.get("cell_type") in ("code", "markdown", "raw")
    return has_type and isinstance(known.get("source"), str | list)
