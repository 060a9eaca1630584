"""Searches through the text of files with RE2, whose time is linear."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import ToolFailure
from ._patterns import Pattern
from ._tree import Budget, Exhausted, walk
from ._workspace import Workspace
from .editing.text import NotText, encoding_of
from .opening.denial import DENIED
from .opening.files import OpenFile
from .opening.paths import Place

_EVERY = Pattern(((None,),))


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for: ``pattern`` is compiled by RE2. ``multiline``: a match may go over ends of lines.

    ``before`` and ``after`` are how many lines around a match are shown.
    """

    pattern: Any
    before: int = 0
    after: int = 0
    multiline: bool = False


@dataclass(frozen=True, slots=True)
class FileMatches:
    """The lines of a file that match, by their numbers, and ``lines``, all of the file's."""

    place: Place
    numbers: list[int]
    lines: list[bytes]


@dataclass(slots=True)
class SearchState:
    """What became of a search: files that were looked at, those that are too large, why it ended early."""

    files: int = 0
    too_large: list[str] = field(default_factory=list[str])
    truncated: str | None = None


def search(
    workspace: Workspace,
    start: Place,
    query: Query,
    budget: Budget,
    state: SearchState,
    *,
    glob: Pattern | None = None,
    everything: bool = False,
) -> Iterator[FileMatches]:
    """The matches in the file ``start``, or in the files below the folder ``start`` that ``glob`` names.

    Files that are no text are passed over. What limits it is noted in ``state``. Raises ``ToolFailure``.
    """
    left = workspace.limits.scan_bytes
    try:
        for place in _files(workspace, start, budget, glob or _EVERY, everything=everything):
            data = _text_of(workspace, place, state)
            if data is None:
                continue
            budget.check()
            if len(data) > left:
                raise Exhausted(f"limits.scan_bytes ({workspace.limits.scan_bytes:,})")
            left -= len(data)
            state.files += 1
            numbers = _matching(data, query, budget)
            if numbers:
                yield FileMatches(place, numbers, data.split(b"\n"))
    except Exhausted as limit:
        state.truncated = str(limit)


def with_context(found: FileMatches, query: Query) -> Iterator[tuple[int, bool] | None]:
    """The lines to show: (number, whether it matches) in order; ``None`` between those that are apart."""
    matching = set(found.numbers)
    count = len(found.lines) - (not found.lines[-1])
    last = 0
    for number in found.numbers:
        first = max(number - query.before, last + 1)
        if last and first > last + 1 and (query.before or query.after):
            yield None
        for each in range(first, min(number + query.after, count) + 1):
            if each > number and each in matching:
                break
            yield each, each in matching
            last = each


def _files(
    workspace: Workspace, start: Place, budget: Budget, glob: Pattern, *, everything: bool
) -> Iterator[Place]:
    try:
        with workspace.open_file(start):
            pass
    except ToolFailure as failure:
        if failure.error_code == DENIED:
            _check_folder(workspace, start, failure)  # rules may except a part of it
        elif failure.error_code != "not_a_file":
            raise
    else:
        yield start
        return
    for each in walk(workspace, start, budget, state=glob.start(), step=glob.step, everything=everything):
        if not each.is_folder and glob.accepts(each.state):
            yield each.place


def _check_folder(workspace: Workspace, start: Place, denied: ToolFailure) -> None:
    """Raise ``denied`` unless ``start`` is a folder that may be looked into."""
    try:
        os.close(workspace.open_folder(start))
    except ToolFailure:
        raise denied from None


def _text_of(workspace: Workspace, place: Place, state: SearchState) -> bytes | None:
    """The file's text as UTF-8 or Latin-1; ``None`` where it is no text that is searched."""
    try:
        with workspace.open_file(place, follow=False) as file:
            data = _content(file, workspace.limits.search_file_bytes, state)
    except ToolFailure:
        return None  # it went meanwhile, is a link, or cannot be read
    if data is None:
        return None
    try:
        encoding = encoding_of(data)
        if encoding.codec in ("utf-8", "latin-1"):
            return data[len(encoding.bom) :]
        return encoding.decoded(data).encode()
    except NotText:
        return None


def _content(file: OpenFile, most: int, state: SearchState) -> bytes | None:
    data = file.read(0, most + 1)
    if len(data) > most:
        state.too_large.append(file.place.shown)
        return None
    return data


def _matching(data: bytes, query: Query, budget: Budget) -> list[int]:
    """The numbers of the lines that match, or that a match goes over, in order."""
    numbers: dict[int, None] = {}
    at, line, counted = 0, 1, 0
    while at <= len(data) and (match := query.pattern.search(data, at)) is not None:
        budget.check()
        start, end = match.start(), match.end()
        if start == len(data) and data.endswith(b"\n"):
            break  # after the last line
        line += data.count(b"\n", counted, start)
        counted = start
        stop = _line_end(data, start)
        if end > stop and query.multiline:
            last = max(start, end - 1)
            numbers.update(dict.fromkeys(range(line, line + data.count(b"\n", start, last) + 1)))
            stop = _line_end(data, last)
        elif end <= stop or query.pattern.search(data[data.rfind(b"\n", 0, start) + 1 : stop]) is not None:
            numbers[line] = None
        at = stop + 1
    return list(numbers)


def _line_end(data: bytes, at: int) -> int:
    found = data.find(b"\n", at)
    return len(data) if found < 0 else found
