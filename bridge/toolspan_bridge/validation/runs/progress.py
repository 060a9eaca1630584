"""How far a run is, on a terminal."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from toolspan_server.common.visible import visible_line

from .events import Event, OnEvent, TrialStarted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["progress"]


@contextmanager
def progress(file: IO[str]) -> Generator[OnEvent]:
    """A progress bar on ``file`` while the block runs, fed by the events; nothing where it is no terminal."""
    from rich.console import Console

    if not file.isatty():
        yield lambda event: None
        return
    with _bar(Console(file=file, highlight=False, markup=False, emoji=False)) as on_event:
        yield on_event


@contextmanager
def _bar(console: Console) -> Generator[OnEvent]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def on_event(event: Event) -> None:
            if isinstance(event, TrialStarted):
                words = visible_line(f"{event.model_id}: {event.scenario}")
                bar.update(task, total=event.total, completed=event.number - 1, description=words)
            else:
                bar.update(task, completed=event.number)

        yield on_event
