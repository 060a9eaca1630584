"""Validation: put every scenario to every model, several times, and keep what came of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio
import anyio.to_thread

from ..errors import (
    AuthError,
    BridgeError,
    ProviderError,
    UnknownModelError,
    UnreachableError,
    UsageError,
)
from ..events import Answer
from ..providers.prices import usd_data
from ..providers.resolve import bare_model
from .badges import RULE, THRESHOLD, BadgeRule
from .fingerprint import Fingerprint, hash_of, toolspan_version
from .offer import Offer
from .report import (
    ModelReport,
    OnEvent,
    TrialFinished,
    TrialStarted,
    ValidationReport,
)
from .storage.store import Store, Totals
from .storage.trial import Trial, timestamp
from .suites import Scenario, Suite
from .wordings.choosing import choose_wording, ways_of

TRIAL_TIMEOUT = 120.0
"""Seconds that one trial may take, all its turns and tool calls together."""

MAX_TRIALS = 1_000


class AskModel(Protocol):
    """Puts ``query`` to ``model`` (``provider/model``) with all tools, and gives the answer.

    Raises ``BridgeError``: what each means for the run is with ``validate``.
    """

    async def __call__(self, model: str, query: str) -> Answer: ...


class AskOffering(Protocol):
    """As ``AskModel``, with what ``offer`` has in place of the tools."""

    async def __call__(self, model: str, query: str, offer: Offer) -> Answer: ...


FingerprintOf = Callable[[str], Awaitable[Fingerprint]]
"""What is measured when a model (``provider/model``) is asked now. Raises as ``AskModel``."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    success: bool
    error: str
    details: dict[str, Any]


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
    ask_offering: AskOffering | None = None,
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
    questions = [scenario for scenario in suite.scenarios for _ in range(trials)]
    reports: list[ModelReport] = []
    for index, model in enumerate(chosen):
        progress = _Progress(on_event, index * len(questions), len(chosen) * len(questions))
        runner = _TrialRunner(ask, store, timeout, fingerprint_of, ask_offering)
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
    ask_offering: AskOffering | None = None,
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
        ask_offering=ask_offering,
        rule=rule,
    )
    tried = {each.model_id: each.trials for each in report.models if each.error is None}
    found = [choice for model in named if (choice := choose_wording(model, tried))]
    for choice in found:
        await anyio.to_thread.run_sync(store.choose, choice)
    return replace(report, choices=tuple(found))


def hash_of_suite(suite: Suite) -> str:
    """The hash of what ``suite`` asks and expects; its name has no part in it."""
    content: Any = suite.model_dump(exclude={"name"}, exclude_defaults=True)
    more = [each.identity for each in suite.scenarios if each.identity is not None]
    return hash_of([content, more] if more else content)


def _check(trials: int, timeout: float, threshold: float) -> None:
    if not 1 <= trials <= MAX_TRIALS:
        raise UsageError(f"the number of trials must be 1 … {MAX_TRIALS:,}, not {trials}")
    if not timeout > 0:
        raise UsageError(f"the time-out must be more than 0 s, not {timeout}")
    if not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be 0 … 1, not {threshold}")


@dataclass(frozen=True, slots=True)
class _TrialRunner:
    ask: AskModel
    store: Store
    timeout: float
    fingerprint_of: FingerprintOf | None
    ask_offering: AskOffering | None

    async def answer(self, model: str, scenario: Scenario) -> Answer:
        """What ``model`` makes of ``scenario``."""
        offer = scenario.offer
        if offer is None or self.ask_offering is None:
            return await self.ask(model, scenario.query)
        return await self.ask_offering(model, scenario.query, offer)

    async def fingerprint(self, model: str, suite: Suite) -> Fingerprint:
        """What is measured when ``suite`` is put to ``model``."""
        found = await self.fingerprint_of(model) if self.fingerprint_of else Fingerprint(model=model)
        return replace(found, suite=hash_of_suite(suite), toolspan=toolspan_version())


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
    model: str, suite: Suite, questions: Sequence[Scenario], bench: _TrialRunner, progress: _Progress
) -> ModelReport:
    kept: list[Trial] = []
    ended_by: BridgeError | None = None
    mark: Fingerprint | None = None
    for scenario in questions:
        progress.started(model, scenario)
        try:
            mark = mark or await bench.fingerprint(model, suite)
            outcome = await _try(model, scenario, bench)
        except (AuthError, UnreachableError, UnknownModelError) as error:
            ended_by = error
            break
        did, why, details = outcome.success, outcome.error, outcome.details
        trial = Trial(model, suite.name, scenario.title, timestamp(), did, why, details, mark)
        kept.append(await anyio.to_thread.run_sync(bench.store.append, trial))
        progress.finished(kept[-1])
    totals = bench.store.totals(model, mark) if mark else Totals(0, 0)
    return ModelReport(model, tuple(kept), totals, ended_by)


def _expectation(scenario: Scenario) -> dict[str, Any]:
    """What figures by tool and tag are made of: ``{"expected": {"calls" | "no_calls"}, "tags"}``."""
    expect = scenario.expect
    calls: dict[str, Any] = {"calls": [call.tool for call in expect.calls]} if expect.calls else {}
    expected = calls | ({"no_calls": True} if expect.no_calls else {})
    tags = [str(tag) for tag in getattr(scenario, "tags", ())]
    return ({"expected": expected} if expected else {}) | ({"tags": tags} if tags else {})


async def _try(model: str, scenario: Scenario, bench: _TrialRunner) -> _Outcome:
    began = time.monotonic()
    answer: Answer | None = None
    error = f"no answer within {bench.timeout:g} s"
    try:
        with anyio.move_on_after(bench.timeout):
            answer = await bench.answer(model, scenario)
    except UnknownModelError:
        raise
    except ProviderError as failure:
        error = failure.message
    details: dict[str, Any] = {
        "scenario": scenario.title,
        "query": scenario.query,
        "duration_ms": round((time.monotonic() - began) * 1000),
        **_expectation(scenario),
    }
    if answer is None:
        return _Outcome(False, error or "the provider gave an error without words", details)
    faults = scenario.faults_of(answer)
    rescued = sum(call.rescued for call in answer.tool_calls)
    measured = {"cost": usd_data(answer.usd), "rescued": rescued}
    return _Outcome(not faults, "; ".join(faults), {**details, **measured, **answer.as_dict()})
