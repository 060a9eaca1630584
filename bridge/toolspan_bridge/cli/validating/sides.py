"""What the runs of two versions of definitions have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...sessions.session import Session
from ...validation import Suite, Trial, ValidationReport
from ...validation.definitions_ab import ModelDifference
from ..terminal.output import print_note

__all__ = ["RunSuite", "exit_code_of", "trials_of"]

RunSuite = Callable[[Session, Suite], Awaitable[ValidationReport]]
"""Puts a suite to the models with the tools of a session."""

_EXIT_WORSE = 6


def trials_of(report: ValidationReport) -> list[Trial]:
    """All trials of ``report``."""
    return [trial for model in report.models for trial in model.trials]


def exit_code_of(reports: Sequence[ValidationReport], found: Sequence[ModelDifference]) -> int:
    """That of the first of ``reports`` that did not come to its end; else 6 where a model is worse by more
    than chance. What ended a model's trials is said on stderr."""
    for report in reports:
        for model in report.models:
            if model.error:
                print_note(f"{model.model_id}: {model.error}")
    ended = [report.exit_code for report in reports if report.exit_code not in (0, _EXIT_WORSE)]
    if ended:
        return ended[0]
    return _EXIT_WORSE if any(each.all.change == "worse" for each in found) else 0
