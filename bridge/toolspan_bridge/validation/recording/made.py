"""What is kept of a trial that was made from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..storage.trial import Trial
from .contents import RecordedTrial

__all__ = ["MEASURED", "Kept", "as_recorded", "errors_before", "not_recorded", "run_of"]

MEASURED = ("duration_ms", "ttft_ms", "cost")
"""What of a trial's details is measured: in a replay it is what was recorded."""


@dataclass(frozen=True, slots=True)
class Kept:
    """As what a replayed trial is in the store: the ``run`` and ``number`` of the recorded one, so that it is
    there once. ``order`` is the order in which the recorded ones ended."""

    run: str
    number: int
    order: int


def as_recorded(trial: Trial, end: Mapping[str, Any], *, cut: bool) -> Trial:
    """``trial`` with the time and the measures of the recorded ``end``; with all of it where it was ``cut``
    off there, as by a time-out."""
    again = replace(trial, timestamp=end["timestamp"])
    if cut:
        kept = {name: end[name] for name in ("success", "is_error", "error", "details")}
        return replace(again, **kept)
    before: Mapping[str, Any] = end["details"]
    given = {name: value for name, value in trial.details.items() if name not in MEASURED}
    measured = {name: before[name] for name in MEASURED if name in before}
    whole = {**given, **measured}
    order = [name for name in before if name in whole]  # bytes are compared
    return replace(again, details={name: whole[name] for name in [*order, *whole]})


def errors_before(trial: Trial, recorded: RecordedTrial) -> list[tuple[Kept, Trial]]:
    """The errors that were kept before ``trial`` was tried again, as the run was gone on with, for what has
    its fingerprint."""
    mark = trial.fingerprint.digest if trial.fingerprint else ""
    found: list[tuple[Kept, Trial]] = []
    for end, order in recorded.errors:
        if end["fingerprint"] == mark:
            told = {name: end[name] for name in ("success", "is_error", "error", "details", "timestamp")}
            found.append((Kept(end["run"], end["number"], order), replace(trial, **told)))
    return found


def not_recorded(trial: Trial, fault: str, recorded: RecordedTrial | None, started: str) -> Trial:
    """``trial`` as an error, for the reason ``fault``; ``started`` is its time where none is recorded."""
    end = recorded.end if recorded else None
    when = str(end["timestamp"]) if end else started
    details = {name: value for name, value in trial.details.items() if name not in MEASURED}
    return replace(trial, success=False, is_error=True, error=fault, timestamp=when, details=details)


def run_of(trial: Trial, end: Mapping[str, Any]) -> str:
    """The recorded run; one of its own for what another fingerprint measures, as other expectations do."""
    mark = trial.fingerprint.digest if trial.fingerprint else ""
    return str(end["run"]) if mark == end["fingerprint"] else f"{end['run']}-{mark[:12]}"
