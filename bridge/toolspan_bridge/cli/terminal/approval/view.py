"""A call as it is shown to the person who decides about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....approvals import (
    ApprovalRequest,
    definition_diff,
    definition_of,
    lacks_sandbox,
    sandbox_of,
)
from .file_changes import file_diff

Line = tuple[str, str | None]
"""A line, and its colour if it has one."""

_MOST_LINES = 40
_LONGEST_LINE = 200
_OF_DIFFS = {"Write": ("content",), "Edit": ("old_string", "new_string")}


class View:
    """The lines of ``request`` with ``arguments``. ``is_whole`` is false where some were shortened."""

    def __init__(
        self,
        request: ApprovalRequest,
        arguments: Mapping[str, Any],
        earlier: Mapping[str, Any] | None,
        base: Path,
        *,
        whole: bool = False,
    ) -> None:
        self.is_whole = True
        self._whole = whole
        self.lines: list[Line] = [*self._head(request), *self._changed(request, earlier)]
        diff = file_diff(request.tool.name, arguments, base)
        left_out = _OF_DIFFS[request.tool.name] if diff is not None else ()
        self.lines += self._arguments({key: arguments[key] for key in arguments if key not in left_out})
        if diff is not None:
            self.lines += self._cut(_coloured(diff) or [("  the file stays as it is", None)])
        if sandbox := sandbox_of(request.tool):
            text, _ = self._short(f"  sandbox: {sandbox}")
            self.lines.append((text, "red" if lacks_sandbox(request.tool) else None))

    def _head(self, request: ApprovalRequest) -> list[Line]:
        named = f"{request.tool.name} of the server {request.server!r}"
        return [(f"{named} needs approval: {request.reason}", "yellow")]

    def _changed(self, request: ApprovalRequest, earlier: Mapping[str, Any] | None) -> list[Line]:
        """How the definition differs from the one that an earlier answer was about."""
        if earlier is None:
            return []
        lines = definition_diff(earlier, definition_of(request.tool))
        note = "the definition of the tool has changed since you allowed it:"
        return [(note, "yellow"), *self._cut(_coloured(lines))]

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


def _coloured(diff: Sequence[str]) -> list[Line]:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return [("  " + line.expandtabs(4), colours.get(line[:1])) for line in diff]
