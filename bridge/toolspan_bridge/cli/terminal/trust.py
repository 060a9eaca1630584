"""The question at a terminal whether the folder is trusted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from toolspan_server.common.visible import written_out_line
from toolspan_server.config import WHOLE

from ...trust.folders import Untrusted
from .output import print_coloured
from .questions.lines import asked_yes

_SHOWN = 20
"""How many changed parts of an item are named."""


def asked_to_trust(folder: Path, found: Sequence[Untrusted]) -> bool:
    """Whether the person allows all of ``found`` in ``folder``; what is not yes is no. On stderr.

    The item that stands for the whole config is shown where nothing else changed.

    Raises ``click.Abort`` for Ctrl+C and Ctrl+D.
    """
    print_coloured(_lines(folder, found))
    try:
        with _interruptible():
            return asked_yes("Trust it as it is now?")
    except KeyboardInterrupt:
        raise click.Abort from None


def _lines(folder: Path, found: Sequence[Untrusted]) -> list[tuple[str, str | None]]:
    changed = any(each.before or each.changed for each in found)
    head = f"The config found in {folder} wants to run code, use files or send data"
    head += ", and has changed since you trusted it:" if changed else ":"
    lines: list[tuple[str, str | None]] = [(head, "yellow")]
    for each in [each for each in found if each.item.place != WHOLE] or found:
        lines += [(f"  - {what}", "red") for what in each.before]
        is_other = bool(each.before or each.changed)
        lines.append((f"  {'+' if each.before else ' '} {each.item}", "green" if each.before else None))
        if is_other and each.changed:
            lines.append((f"      changed since you allowed it: {_named(each.changed)}", "cyan"))
    lines.append(("Without your trust this is left out, and the rest of the config works.", "yellow"))
    return lines


def _named(changed: Sequence[str]) -> str:
    more = f" and {len(changed) - _SHOWN:,} more" if len(changed) > _SHOWN else ""
    return written_out_line(", ".join(changed[:_SHOWN])) + more


@contextmanager
def _interruptible() -> Generator[None]:
    """Have Ctrl+C end the wait for an answer also where an event loop has taken the signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
