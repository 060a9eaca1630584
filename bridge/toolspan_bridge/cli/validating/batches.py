"""Runs of validation by batches: what they cannot be beside, and what is said of batches that are left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from toolspan_server.config import Config

from ...errors import UsageError
from ...validation import ValidationReport
from ...validation.between import NOTHING_BETWEEN, Between
from ...validation.runs.batches import BatchedRun
from ..inputs.validation.run_options import RunChoice
from ..terminal.output import print_note

__all__ = ["FOLDER", "batched_run", "check_batch", "made_by_batches"]

FOLDER = "batches"
"""The folder of submitted batches in the state folder."""


def check_batch(run: RunChoice) -> None:
    """Raise ``UsageError`` for what cannot be beside ``--batch``."""
    if not run.batch:
        return
    if run.queue:
        raise UsageError("--batch asks all at once from here, --queue leaves it to workers: give one of them")
    if run.quick:
        raise UsageError("--quick answers within a minute, a batch may take a day: leave out --batch")
    if run.concurrency:
        raise UsageError("--batch asks all trials at once: leave out --concurrency")
    if run.max_cost:
        raise UsageError("--batch asks all trials at once, before any cost is known: leave out --max-cost")


def batched_run(config: Config, between: Between) -> BatchedRun:
    """A run by batches, whose handles are kept in the state folder. Raises ``UsageError`` where something is
    ``between`` already."""
    if between is not NOTHING_BETWEEN:
        raise UsageError("--record and --replay keep replies one by one: leave out --batch")
    return BatchedRun(config.state_directory / FOLDER, print_note)


async def made_by_batches(
    batches: BatchedRun, models: Sequence[str], made: Callable[[], Awaitable[ValidationReport | None]]
) -> ValidationReport | None:
    """The report of the run that ``made`` makes. Where it is ended early, it is said of each batch that goes
    on how it is come back to."""
    await batches.check(models)
    try:
        report = await made()
    finally:
        for batch in batches.unfinished:
            print_note(
                f"{batch.name} goes on at the provider: the same command waits for it again; `toolspan batch "
                f"cancel {batch.path}` ends it"
            )
    if report is not None and not report.missing:
        batches.forget()
    return report
