"""How far a call is, in a line that is gone when it is over."""

from __future__ import annotations

from rich.progress_bar import ProgressBar

from ....events import ToolProgress
from ..of_events.lines import meanwhile
from .terminal import Styled, StyledTerminal

__all__ = ["show_progress"]

_WIDEST = 30


def show_progress(terminal: StyledTerminal, event: ToolProgress) -> None:
    """The progress of ``event``: a bar where its total is known and lines can be erased."""
    if not terminal.can_erase:
        terminal.short_line((meanwhile(event), "dim"))
    elif not event.total or event.total <= 0:
        terminal.passing((meanwhile(event), "dim"), timed=True)
    else:
        done = min(max(event.progress / event.total, 0.0), 1.0)
        bar = ProgressBar(total=1, completed=done, width=min(_WIDEST, terminal.width // 3))
        parts = [part for line in terminal.lines(bar) for part in line]
        message = f"  {event.message}" if event.message else ""
        told: tuple[Styled, Styled] = (f" {100 * done:3.0f} %", "bold"), (message, "dim")
        terminal.passing((f"  {event.tool} ", ""), *parts, *told, timed=True)
