"""Files, shown on a terminal: pictures where it can show them; else kept, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....errors import BridgeError
from ..screen.amounts import size
from ..screen.terminal import StyledTerminal
from .graphics import graphics_of
from .received import Received

__all__ = ["Keep", "show_files"]

Keep = Callable[[str, str, bytes], str]
"""Keeps a file by a name, a suffix and its bytes, and returns where; empty where nothing is kept. Raises
``BridgeError``."""

_MOST_SHOWN = 4
"""Pictures of one result that are shown; further ones are kept."""
_MARGIN = "  "


def show_files(
    terminal: StyledTerminal, files: Iterable[Received | str], name: str, keep: Keep | None
) -> None:
    """A line for each of ``files`` that came of ``name``, and the picture under it or its path in it."""
    graphics, shown = graphics_of(terminal.file), 0
    for file in files:
        if isinstance(file, str):
            terminal.line((f"{_MARGIN}{file}", "dim"))
            continue
        sequence = "" if graphics is None or shown == _MOST_SHOWN else graphics.sequence(file)
        told = f"{_MARGIN}{file.name}, {size(len(file.data))}"
        if sequence:
            shown += 1
            terminal.line((told, "dim"))
            terminal.draw(sequence)
        else:
            terminal.line((f"{told}: ", "dim"), _place(file, name, keep))


def _place(file: Received, name: str, keep: Keep | None) -> tuple[str, str]:
    """Where ``file`` is kept, or why it is not."""
    try:
        path = "" if keep is None else keep(name, file.suffix, file.data)
    except BridgeError as fault:
        return f"not kept: {fault}", "red"
    return (path, "") if path else ("not kept, as the conversation is not saved", "dim")
