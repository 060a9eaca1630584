"""``validate --queue``: the trials are put on a queue, and the run is followed while workers make them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import UsageError
from ...messages import ReasoningEffort
from ...sessions.session import Session
from ...validation import (
    TRIAL_TIMEOUT,
    Asker,
    BadgeRule,
    Concurrency,
    RunBegan,
    RunLimits,
    Store,
    Suite,
    ValidationReport,
    progress,
)
from ...validation.fingerprint import hash_of_tools
from ...validation.queue.connection import Queue, opened_queue, queue_place
from ...validation.queue.counts import Counted
from ...validation.queue.following import follow
from ...validation.queue.putting import Put, put
from ...validation.queue.queued_run import QueuedRun, parcel_of
from ...validation.queue.state import RunState
from ...validation.runs.plan import Plan
from ...validation.runs.progress import Shown
from ...validation.runs.progress.tally import Row
from ...validation.runs.quick import QUICK_SECONDS
from ...validation.runs.validate import check_run
from ..inputs.validation.run_options import RunChoice
from ..terminal.output import print_note
from .interrupts import interruptible

__all__ = ["made_by_workers"]


async def made_by_workers(
    session: Session,
    asker: Asker,
    store: Store,
    models: tuple[str, ...],
    suites: Sequence[Suite],
    run: RunChoice,
    rule: BadgeRule,
    reasoning: ReasoningEffort | None,
) -> ValidationReport | None:
    """The report of the run, which workers make; ``None`` where ``run`` says to leave once it is put.

    Raises ``UsageError`` for options that are the workers' own.
    """
    if run.wordings:
        raise UsageError("--wordings needs the trials here: leave out --queue, or --wordings")
    if run.concurrency is not None:
        raise UsageError("each worker has its own --concurrency: give it to toolspan worker")
    threshold = rule.threshold if run.threshold is None else run.threshold
    timeout = run.timeout or TRIAL_TIMEOUT
    check_run(suites, run.trials, timeout, threshold, Concurrency())
    plan = Plan(tuple(dict.fromkeys(models)), tuple(suites), run.trials)
    tools = hash_of_tools(session.toolbox.tools)
    limits = RunLimits(run.max_cost, run.max_time or (QUICK_SECONDS if run.quick else None))
    parcel = await parcel_of(plan, asker.fingerprint, tools, timeout, reasoning)
    async with opened_queue(run.queue) as queue:
        found = await put(queue, store, plan, parcel, limits, "fresh" if run.fresh else "unfinished")
        _say_put(found, run)
        if run.detach:
            return None
        return await _followed(queue, store, QueuedRun(plan, found, threshold, rule, limits), run)


async def _followed(queue: Queue, store: Store, queued: QueuedRun, run: RunChoice) -> ValidationReport:
    with progress(sys.stderr) as shown:
        shown.begin(RunBegan(queued.plan, (), ()))
        async with interruptible(_say_left) as stop:
            watched = _Watched(shown, run.queue)
            state = await follow(queue, queued.put, stop, watched.changed, watched.say)
    return await queued.report(store, state, interrupted=stop.is_asked)


@dataclass(slots=True)
class _Watched:
    """What is shown of a run that workers make, and what was said of it."""

    shown: Shown
    url: str
    _said: set[str] = field(default_factory=set[str])

    def changed(self, state: RunState, counted: Mapping[tuple[str, str], Counted]) -> None:
        """Show how the run stands, and say once what hinders it."""
        tally = self.shown.tally
        for (model, suite), each in counted.items():
            tally.count(Row(model, suite, 0, each.successes, each.failures, each.errors, each.usd))
        if not self._said:
            tally.measure()
        count = len(state.workers)
        tally.running = {0: "1 worker" if count == 1 else f"{count:,} workers"}
        self.shown.changed()
        self.say("")
        if state.waiting and not state.workers:
            self.say(
                "no worker is there yet: the trials wait. Start one, here or on another machine, with the "
                f"same config: toolspan worker --queue {queue_place(self.url).shown}"
            )
        for refusal in state.refusals:
            self.say(f"worker {refusal.worker} takes no part: {refusal.reason}")

    def say(self, text: str) -> None:
        """Say ``text``, once."""
        if text not in self._said:
            self._said.add(text)
            if text:
                print_note(text)


def _say_put(found: Put, run: RunChoice) -> None:
    for note in found.notes:
        print_note(note)
    if found.put:
        trials = "1 trial is" if found.put == 1 else f"{found.put:,} trials are"
        print_note(f"{trials} on the queue, as run {found.id[:8]}")
    if run.detach:
        print_note("workers make them; the same command without --detach follows the run to its report")


def _say_left() -> None:
    print_note("the run is left to its workers; the same command follows it again, with --fresh it is ended")
