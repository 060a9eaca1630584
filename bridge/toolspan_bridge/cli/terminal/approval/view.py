"""A call as it is shown to the person who decides about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....approvals import (
    ApprovalRequest,
    Departure,
    definition_diff,
    definition_of,
    lacks_sandbox,
    sandbox_of,
)
from ....approvals.workspace import works_as
from ..diffs import Line, coloured
from .file_changes import file_diff

_MOST_LINES = 40
_LONGEST_LINE = 200
_OF_DIFFS = {
    "Write": ("content",),
    "Edit": ("old_string", "new_string", "edits"),
    "NotebookEdit": ("new_source",),
}


class View:
    """``request`` with ``arguments``: the sentences of ``heading``, and ``lines`` of text that is not ours.
    ``is_whole`` is false where some were shortened."""

    def __init__(
        self,
        request: ApprovalRequest,
        arguments: Mapping[str, Any],
        departure: Departure | None,
        base: Path,
        warnings: Sequence[str] = (),
        *,
        whole: bool = False,
    ) -> None:
        self.is_whole = True
        self._whole = whole
        self.heading: list[Line] = [_head(request), *((f"  {text}", "red") for text in warnings)]
        self.lines = self._changed(request, departure)
        does = works_as(request.tool)
        diff = file_diff(does, arguments, base)
        left_out = _OF_DIFFS[does] if diff is not None else ()
        self.lines += self._arguments({key: arguments[key] for key in arguments if key not in left_out})
        if diff is not None:
            self.lines += self._cut(coloured(diff) or [("  the file stays as it is", None)])
        if sandbox := sandbox_of(request.tool):
            text, _ = self._short(f"  sandbox: {sandbox}")
            self.lines.append((text, "red" if lacks_sandbox(request.tool) else None))

    def _changed(self, request: ApprovalRequest, departure: Departure | None) -> list[Line]:
        """How the definition differs from one that is known."""
        if departure is None:
            return []
        lines = definition_diff(departure.before, definition_of(request.tool))
        change = "has changed since" if departure.before is not None else "was not there when"
        note = f"the definition of the tool {change} {departure.since}:"
        return [(note, "yellow"), *self._cut(coloured(lines))]

    def _arguments(self, arguments: Mapping[str, Any]) -> list[Line]:
        lines: list[Line] = []
        for name, value in arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            first, *others = text.split("\n")
            lines.append(self._short(f"  {name}: {first}"))
            lines += [self._short(f"    {line}") for line in others]
        return self._cut(lines) if lines else [("  without arguments", None)]

    def _short(self, line: str) -> Line:
        if len(line) > _LONGEST_LINE and not self._whole:
            self.is_whole = False
            line = line[: _LONGEST_LINE - 1] + "…"
        return line, None

    def _cut(self, lines: Sequence[Line]) -> list[Line]:
        if len(lines) <= _MOST_LINES or self._whole:
            return list(lines)
        self.is_whole = False
        return [*lines[:_MOST_LINES], (f"  … {len(lines) - _MOST_LINES:,} more lines", None)]


def _head(request: ApprovalRequest) -> Line:
    named = f"{request.tool.name} of the server {request.server!r}"
    return f"{named} needs approval: {request.reason}", "yellow"
