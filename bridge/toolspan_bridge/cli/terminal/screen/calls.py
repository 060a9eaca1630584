"""A tool call and its result, in few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..output import arguments_text
from .amounts import byte_count, duration, size
from .folded import Folded
from .terminal import Styled, StyledTerminal

__all__ = ["Call", "show_call", "show_result"]

_FIRST_LINES = 3
_MARGIN = "  "


@dataclass(frozen=True, slots=True)
class Call:
    """A call of ``tool``; ``arguments`` are ``None`` when the model sent no JSON object."""

    tool: str
    arguments: Mapping[str, Any] | None

    @property
    def text(self) -> str:
        """The call in a line."""
        return f"{self.tool}({arguments_text(self.arguments)})"


def show_call(terminal: StyledTerminal, call: Call, note: str = "") -> None:
    """A line for the call, when it begins."""
    arguments = f"({arguments_text(call.arguments)})"
    terminal.short_line(("→ ", "cyan"), (call.tool, "bold"), (arguments, "dim"), (note, "dim"), kept=1)


def show_result(
    terminal: StyledTerminal,
    call: Call,
    result: Mapping[str, Any],
    folded: Folded,
    *,
    is_under_call: bool,
    further: int = 0,
) -> None:
    """What came of ``call``: its tool result, and ``further`` bytes of files. A result that does not stand
    right under its call names it."""
    succeeded = bool(result["success"])
    text = _text(result["result"]) if succeeded else str(result["error"])
    lines = text.rstrip("\n").split("\n") or [""]
    meta = f"  {duration(result['execution_time_ms'])} · {size(byte_count(text) + further)}"
    named: Styled = ("" if is_under_call else f"{_cut(call.text, terminal.width // 2)}: ", "dim")
    mark: Styled = ("← ", "green" if succeeded else "red")
    told = f"{len(lines)} lines" if succeeded else "failed: " + lines[0]
    if succeeded and len(lines) == 1:
        told, lines = lines[0], []
    elif not succeeded:
        lines = lines[1:]
    style = "" if succeeded else "red"
    if folded.whole:
        terminal.line(mark, named, (told, style), (meta, "dim"))
        _show_lines(terminal, lines, len(lines))
        return
    room = terminal.width - sum(map(len, (mark[0], named[0], meta)))
    arguments = arguments_text(call.arguments)
    is_cut = len(told) > room or len(lines) > _FIRST_LINES or arguments.count("…") > 0
    hint = f" · /show {folded.add(call.text, _whole(call, text))}" if is_cut else ""
    terminal.short_line(mark, named, (told, style), (meta + hint, "dim"), kept=1)
    _show_lines(terminal, lines, _FIRST_LINES)


def _show_lines(terminal: StyledTerminal, lines: list[str], most: int) -> None:
    shows = terminal.short_line if len(lines) > most else terminal.line
    for line in lines[:most]:
        shows((_MARGIN + line.expandtabs(4), "dim"))
    if len(lines) > most:
        terminal.line((f"{_MARGIN}… {len(lines) - most:,} more lines", "dim"))


def _whole(call: Call, text: str) -> str:
    arguments = "" if call.arguments is None else json.dumps(call.arguments, indent=2, ensure_ascii=False)
    return f"{arguments}\n\n{text}" if arguments else text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
