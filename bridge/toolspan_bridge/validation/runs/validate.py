"""Validation: put every scenario to every model, several times, and keep what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from ...errors import (
    AuthError,
    BridgeError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from ...providers.resolve import bare_model
from ..attempt import Place, attempt_at
from ..badges import RULE, THRESHOLD, BadgeRule
from ..fingerprint import Fingerprint
from ..storage.store import Store, Totals
from ..storage.trial import Trial, timestamp
from ..suites import Scenario, Suite
from ..wordings.choosing import choose_wording, ways_of
from .events import OnEvent, TrialFinished, TrialStarted
from .one_trial import AskModel, FingerprintOf, TrialRunner, try_scenario
from .report import ModelReport, ValidationReport

__all__ = ["MAX_TRIALS", "TRIAL_TIMEOUT", "validate", "validate_wordings"]

TRIAL_TIMEOUT = 120.0
"""Seconds that one trial may take, all its turns and tool calls together."""

MAX_TRIALS = 1_000


async def validate(
    models: Sequence[str],
    suite: Suite,
    ask: AskModel,
    store: Store,
    *,
    trials: int = 1,
    timeout: float = TRIAL_TIMEOUT,
    threshold: float = THRESHOLD,
    on_event: OnEvent = lambda event: None,
    fingerprint_of: FingerprintOf | None = None,
    rule: BadgeRule = RULE,
) -> ValidationReport:
    """Put every scenario of ``suite`` ``trials`` times (1 to 1,000) to each of ``models``, one by one.

    Each trial is in ``store`` before its ``TrialFinished`` event. An error answer of the provider and a
    trial over ``timeout`` seconds are failed trials. A missing key, an address that does not answer and an
    unknown model would fail every trial and say nothing about the model: they end that model's run,
    unrecorded, and are its ``error``. ``threshold`` is the share of successes, 0 to 1, from which it passes.
    Each trial has the fingerprint of its model that ``fingerprint_of`` gives, with the suite's hash.
    ``rule`` is that of the badges.

    Raises ``UsageError`` for a number out of range, ``StoreError`` when a trial cannot be kept.
    """
    _check(trials, timeout, threshold)
    chosen = tuple(dict.fromkeys(models))
    questions = [(scenario, number) for scenario in suite.scenarios for number in range(1, trials + 1)]
    reports: list[ModelReport] = []
    for index, model in enumerate(chosen):
        progress = _Progress(on_event, index * len(questions), len(chosen) * len(questions))
        runner = TrialRunner(ask, store, timeout, fingerprint_of)
        reports.append(await _validate_model(model, suite, questions, runner, progress))
    return ValidationReport(suite.name, threshold, tuple(reports), store.notices, rule=rule)


async def validate_wordings(
    models: Sequence[str],
    suite: Suite,
    ask: AskModel,
    store: Store,
    *,
    trials: int = 1,
    timeout: float = TRIAL_TIMEOUT,
    threshold: float = THRESHOLD,
    on_event: OnEvent = lambda event: None,
    fingerprint_of: FingerprintOf | None = None,
    rule: BadgeRule = RULE,
    own: Iterable[str] = (),
) -> ValidationReport:
    """As ``validate``, each of ``models`` by its native calls and by each wording of the prompt, with or
    without ``prompt:`` before its name. The best wording is put into ``store`` and is in the report's
    ``choices``; none is chosen for a model that was not tried to the end in every way. ``own`` are the
    config's providers.

    Raises ``UsageError`` also for an unknown provider, and for one that takes no prompt.
    """
    named = tuple(dict.fromkeys(bare_model(model, own) for model in models))
    ways = ways_of(named)
    report = await validate(
        ways,
        suite,
        ask,
        store,
        trials=trials,
        timeout=timeout,
        threshold=threshold,
        on_event=on_event,
        fingerprint_of=fingerprint_of,
        rule=rule,
    )
    tried = {each.model_id: each.trials for each in report.models if each.error is None}
    found = [choice for model in named if (choice := choose_wording(model, tried))]
    for choice in found:
        await anyio.to_thread.run_sync(store.choose, choice)
    return replace(report, choices=tuple(found))


def _check(trials: int, timeout: float, threshold: float) -> None:
    if not 1 <= trials <= MAX_TRIALS:
        raise UsageError(f"the number of trials must be 1 … {MAX_TRIALS:,}, not {trials}")
    if not timeout > 0:
        raise UsageError(f"the time-out must be more than 0 s, not {timeout}")
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be 0 … 1, not {threshold}")


@dataclass(slots=True)
class _Progress:
    on_event: OnEvent
    number: int
    total: int

    def started(self, model: str, scenario: Scenario) -> None:
        self.number += 1
        self.on_event(TrialStarted(model, scenario.title, self.number, self.total))

    def finished(self, trial: Trial) -> None:
        self.on_event(TrialFinished(trial, self.number, self.total))


async def _validate_model(
    model: str,
    suite: Suite,
    questions: Sequence[tuple[Scenario, int]],
    bench: TrialRunner,
    progress: _Progress,
) -> ModelReport:
    kept: list[Trial] = []
    ended_by: BridgeError | None = None
    mark: Fingerprint | None = None
    for scenario, number in questions:
        progress.started(model, scenario)
        try:
            mark = mark or await bench.fingerprint(model, suite)
            with attempt_at(Place(model, suite.name, scenario.title, number)):
                outcome = await try_scenario(model, scenario, bench)
        except (AuthError, UnreachableError, UnknownModelError) as error:
            ended_by = error
            break
        did, why, details = outcome.success, outcome.error, outcome.details
        trial = Trial(model, suite.name, scenario.title, timestamp(), did, why, details, mark)
        kept.append(await anyio.to_thread.run_sync(bench.store.append, trial))
        progress.finished(kept[-1])
    totals = bench.store.totals(model, mark) if mark else Totals(0, 0)
    return ModelReport(model, tuple(kept), totals, ended_by)
