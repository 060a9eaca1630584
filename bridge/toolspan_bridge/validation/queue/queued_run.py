"""A run whose trials are on a queue: how it is planned, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import anyio.to_thread

from ...errors import AuthError, BridgeError, StoreError, UnreachableError, UsageError
from ...messages import ReasoningEffort
from ..badges import BadgeRule
from ..runs.journal import Journal
from ..runs.limits import Ended, RunLimits
from ..runs.made_run import MadeRun
from ..runs.one_trial import FingerprintOf, Fingerprints
from ..runs.plan import Plan
from ..runs.report import ValidationReport
from ..runs.scheduler import Made
from ..storage.selections.selection import Selection
from ..storage.store import Store
from ..storage.trial import Trial
from .parcel import PackedSuite, Parcel
from .putting import Put
from .state import RunState

__all__ = ["QueuedRun", "parcel_of"]

_ERRORS: Mapping[str, type[BridgeError]] = {
    each.code: each for each in (AuthError, StoreError, UnreachableError, UsageError)
}


async def parcel_of(
    plan: Plan, fingerprint_of: FingerprintOf, tools: str, timeout: float, reasoning: ReasoningEffort | None
) -> Parcel:
    """What workers need of a run of ``plan``. A model whose fingerprint is not known here, as without its
    key, is measured by what workers find.

    Raises ``UsageError`` for a suite that cannot be put on a queue.
    """
    marks, fingerprints = Fingerprints(fingerprint_of, plan.suite_hashes), dict[str, dict[str, str]]()
    for model in plan.models:
        try:
            fingerprints[model] = (await marks.model(model)).as_dict()
        except (AuthError, UnreachableError):
            continue
    suites = tuple(PackedSuite.of(suite) for suite in plan.suites)
    return Parcel(suites=suites, timeout=timeout, reasoning=reasoning, tools=tools, fingerprints=fingerprints)


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run of ``plan`` that was ``put`` on a queue, with what its report is judged by."""

    plan: Plan
    put: Put
    threshold: float
    rule: BadgeRule
    limits: RunLimits

    async def report(self, store: Store, state: RunState, *, interrupted: bool) -> ValidationReport:
        """The report of the run as it stands: ``state`` is how it stood on the queue. Where every planned
        trial is done, it is finished in ``store``."""
        trials = await anyio.to_thread.run_sync(self._trials, store)
        made = Made(trials, self._failed(state), _ended(state, interrupted))
        journal = Journal(self.put.id, notes=self.put.notes)
        run = MadeRun(self.plan, journal, made, self.threshold, self.rule, self.limits, state.usd)
        report = await run.report(store)
        if not report.missing:
            await anyio.to_thread.run_sync(store.finish, self.put.id)
        return report

    def _trials(self, store: Store) -> list[Trial]:
        """The trials that are done, and of each other number the last error."""
        done = {trial.number: trial for trial in store.stream(Selection(run=self.put.id))}
        if len(done) == len(self.plan):
            return list(done.values())
        errors = {
            trial.number: trial
            for trial in store.stream(Selection(self.plan.models, run=self.put.id, errors=True))
            if trial.number not in done
        }
        return [*done.values(), *errors.values()]

    def _failed(self, state: RunState) -> dict[str, BridgeError]:
        """Why the trials of a model were left: every worker that is there has refused them."""
        if not state.is_stuck:
            return {}
        models = dict(zip(self.put.lanes, self.plan.models, strict=True))
        found: dict[str, BridgeError] = {}
        for each in state.refusals:
            if each.lane in state.waiting:
                error = _ERRORS.get(each.code, BridgeError)
                found.setdefault(models[each.lane], error(f"{each.reason} (worker {each.worker})"))
        return found


def _ended(state: RunState, interrupted: bool) -> Ended:
    match state.ended:
        case "max_cost" | "max_time" as ended:
            return ended
        case _:
            return "interrupted" if interrupted and not state.is_over else ""
