"""Validation: put every scenario to every model, several times, and keep what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import anyio.to_thread

from ...errors import BridgeError, UsageError
from ...providers.resolve import bare_model
from ..badges import RULE, THRESHOLD, BadgeRule
from ..storage.store import Store
from ..storage.trial import Trial
from ..suites import Suite
from ..wordings.choosing import choose_wording, ways_of
from .events import OnBegin, OnEvent, RunBegan
from .journal import Resume, begun
from .lanes import Concurrency, ServedOf, lanes_of
from .limits import Budget, RunLimits, Stop
from .made_run import MadeRun
from .one_trial import AskModel, FingerprintOf, Fingerprints, MadeTrial, as_made, run_cell
from .plan import Cell, Plan
from .report import ValidationReport
from .scheduler import Scheduler

__all__ = ["MAX_TRIALS", "TRIAL_TIMEOUT", "check_run", "validate", "validate_wordings"]

TRIAL_TIMEOUT = 120.0
"""Seconds that one trial may take, all its turns and tool calls together."""

MAX_TRIALS = 1_000
_MAX_CONCURRENCY = 1_000

_NO_LIMITS = RunLimits()


async def validate(
    models: Sequence[str],
    suite: Suite | Sequence[Suite],
    ask: AskModel,
    store: Store,
    *,
    trials: int = 1,
    timeout: float = TRIAL_TIMEOUT,
    threshold: float = THRESHOLD,
    on_event: OnEvent = lambda event: None,
    on_begin: OnBegin = lambda began: None,
    fingerprint_of: FingerprintOf | None = None,
    rule: BadgeRule = RULE,
    concurrency: int | Concurrency | None = 1,
    served_of: ServedOf | None = None,
    limits: RunLimits = _NO_LIMITS,
    stop: Stop | None = None,
    resume: Resume = "never",
    made: MadeTrial = as_made,
) -> ValidationReport:
    """Put every scenario of ``suite``, or of several, ``trials`` times (1 to 1,000) to each of ``models``.

    Each trial is in ``store`` before its ``TrialFinished`` event. An answer that is not as expected is a
    failed trial, and so is one that takes over ``timeout`` seconds once the model has begun. An error of the
    provider is an error of the trial: neither a success nor a failure. A missing key, an address that does
    not answer and an unknown model would end every trial and say nothing about the model: they end that
    model's trials, unrecorded, and are its ``error``.

    ``concurrency`` is how many trials run at once of each provider: 1 is one after another, whatever the
    provider, ``None`` what is usual. ``served_of`` says which models share a provider. ``limits`` and
    ``stop`` end the run early. With ``resume`` the unfinished run of the same models, suites and trials is
    gone on with. ``made`` gives what is kept of a trial that was made. ``threshold`` is the share of
    successes, 0 to 1, from which a model passes. Each trial has the fingerprint of its model that
    ``fingerprint_of`` gives, with the suite's hash. ``rule`` is that of the badges.

    Raises ``UsageError`` for a number out of range and for suites of one name, ``StoreError`` when a trial
    cannot be kept.
    """
    suites = (suite,) if isinstance(suite, Suite) else tuple(suite)
    at_once = concurrency if isinstance(concurrency, Concurrency) else Concurrency(concurrency)
    check_run(suites, trials, timeout, threshold, at_once)
    plan = Plan(tuple(dict.fromkeys(models)), suites, trials)
    fingerprints = Fingerprints(fingerprint_of, plan.suite_hashes)
    budget = Budget(limits, stop or Stop())
    marks = await _known(plan, fingerprints)
    with begun(store, plan, marks, resume) as journal:

        async def try_cell(cell: Cell) -> Trial:
            return made(cell.place, await run_cell(cell, ask, fingerprints, timeout, journal.id))

        on_begin(RunBegan(plan, journal.earlier, journal.notes, journal.id))
        scheduler = Scheduler(try_cell, store, budget, on_event, len(plan))
        outcome = await scheduler.run(await lanes_of(plan, journal.done, at_once, served_of))
        run = MadeRun(plan, journal, outcome, threshold, rule, limits, budget.spent)
        report = await run.report(store)
        if not report.missing:
            await anyio.to_thread.run_sync(store.finish, journal.id)
    return report


async def validate_wordings(
    models: Sequence[str],
    suite: Suite | Sequence[Suite],
    ask: AskModel,
    store: Store,
    *,
    trials: int = 1,
    timeout: float = TRIAL_TIMEOUT,
    threshold: float = THRESHOLD,
    on_event: OnEvent = lambda event: None,
    on_begin: OnBegin = lambda began: None,
    fingerprint_of: FingerprintOf | None = None,
    rule: BadgeRule = RULE,
    concurrency: int | Concurrency | None = 1,
    served_of: ServedOf | None = None,
    limits: RunLimits = _NO_LIMITS,
    stop: Stop | None = None,
    resume: Resume = "never",
    made: MadeTrial = as_made,
    own: Iterable[str] = (),
) -> ValidationReport:
    """As ``validate``, each of ``models`` by its native calls and by each wording of the prompt, with or
    without ``prompt:`` before its name. The best wording is put into ``store`` and is in the report's
    ``choices``; none is chosen for a model that was not tried to the end in every way. ``own`` are the
    config's providers.

    Raises ``UsageError`` also for an unknown provider, and for one that takes no prompt.
    """
    named = tuple(dict.fromkeys(bare_model(model, own) for model in models))
    report = await validate(
        ways_of(named),
        suite,
        ask,
        store,
        trials=trials,
        timeout=timeout,
        threshold=threshold,
        on_event=on_event,
        on_begin=on_begin,
        fingerprint_of=fingerprint_of,
        rule=rule,
        concurrency=concurrency,
        served_of=served_of,
        limits=limits,
        stop=stop,
        resume=resume,
        made=made,
    )
    tried = {each.model_id: each.trials for each in report.models if not each.missing}
    found = [choice for model in named if (choice := choose_wording(model, tried))]
    for choice in found:
        await anyio.to_thread.run_sync(store.choose, choice)
    return replace(report, choices=tuple(found))


def check_run(
    suites: Sequence[Suite], trials: int, timeout: float, threshold: float, concurrency: Concurrency
) -> None:
    """Raise ``UsageError`` for suites of one name, none at all, and numbers out of range."""
    names = [suite.name for suite in suites]
    if not names:
        raise UsageError("there is no suite to run: give at least one")
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"several suites are called {min(twice)!r}: give each a name of its own")
    if not 1 <= trials <= MAX_TRIALS:
        raise UsageError(f"the number of trials must be 1 … {MAX_TRIALS:,}, not {trials}")
    if not timeout > 0:
        raise UsageError(f"the time-out must be more than 0 s, not {timeout}")
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be 0 … 1, not {threshold}")
    at_once = concurrency.everywhere
    if at_once is not None and not 1 <= at_once <= _MAX_CONCURRENCY:
        raise UsageError(f"the trials at once must be 1 … {_MAX_CONCURRENCY:,}, not {at_once}")


async def _known(plan: Plan, fingerprints: Fingerprints) -> dict[str, str]:
    """The digest of each model's fingerprint, where it is known: what hinders that ends its first trial."""
    found: dict[str, str] = {}
    for model in plan.models:
        try:
            found[model] = (await fingerprints.model(model)).digest
        except BridgeError:
            continue
    return found
