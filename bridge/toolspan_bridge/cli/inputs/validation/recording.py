"""``--record`` and ``--replay``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from toolspan_server.common.state.folder import private_folder

from ....errors import UsageError
from .. import completed

RECORDINGS = "recordings"
"""The folder of recordings in the state folder, where ``--record`` names no other place."""
_DEFAULT = ""


@dataclass(frozen=True, slots=True)
class RecordingChoice:
    """The file or folder to ``record`` into, empty for the usual one, ``None`` for none; the recording to
    ``replay``, if any."""

    record: str | None = None
    replay: Path | None = None

    def place(self, state: Path) -> Path:
        """Where to record; ``state`` is the state folder. Raises ``UsageError`` where that cannot be."""
        if self.record == _DEFAULT:
            try:
                return private_folder(state / RECORDINGS)
            except OSError as fault:
                raise UsageError(f"--record: {state / RECORDINGS}: {fault.strerror}") from None
        place = Path(self.record or "")
        if not place.is_dir() and not place.absolute().parent.is_dir():
            raise UsageError(f"--record {place}: there is no folder {place.parent}")
        real = place.resolve()  # its links are a person's own: none is followed later
        return place if real == place.absolute() else real


def recording_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--record`` and ``--replay``, given to ``function`` as ``recording``."""

    @wraps(function)
    def chosen(*args: Any, record: str | None, replay: Path | None, **options: Any) -> Any:
        if record is not None and replay is not None:
            raise UsageError("--record and --replay are two things: a replay asks nobody, so leave one out")
        return function(*args, recording=RecordingChoice(record, replay), **options)

    recorded = click.option(
        "--record",
        is_flag=False,
        flag_value=_DEFAULT,
        metavar="[FILE|DIR]",
        shell_complete=completed.files,
        help="Keep every reply and every result of a tool, without secrets, in FILE or in a new file in DIR. "
        "Default: the folder recordings of the state folder.",
    )
    replayed = click.option(
        "--replay",
        metavar="FILE",
        type=click.Path(path_type=Path),
        shell_complete=completed.files,
        help="Run a recording again: no model is asked, no server is started, nothing is sent.",
    )
    return recorded(replayed(chosen))
