"""Runs of validation in the background: started, followed, cancelled, each by its principal."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import anyio

from toolspan_server.common.supervision import run_contained

from ...errors import BridgeError
from ...providers import own_providers
from ...providers.http.rate_limits import AdaptiveLimiters
from ...sessions.validating import asker_of
from ...validation import BadgeRule, Concurrency, RunBegan, RunLimits, Store, Suite, validate
from ...validation.runs.events import Event, TrialStarted
from ...validation.runs.limits import Stop
from ...validation.runs.modes import Mode, in_modes
from ...validation.storage.trial import timestamp
from ...validation.stores import store_of
from ..problems import Problem

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from ..app.state import App

MOST_TRIALS = 2_000
"""The most trials of a run over the API; the command line has no such limit."""
_MOST_RUNNING, _MOST_OF_ONE = 4, 2
_MOST_KEPT = 20

NO_LIMITS = RunLimits()

_log = logging.getLogger(__name__)

State = Literal["running", "stopping", "done", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event of a run; its ``id`` counts from 1."""

    id: int
    name: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be run: ``suites``, each as often as ``trials``, with each of ``models`` in each of
    ``modes`` (none: as the model is named)."""

    suites: tuple[Suite, ...]
    models: tuple[str, ...]
    modes: tuple[Mode, ...] = ()
    trials: int = 1
    limits: RunLimits = NO_LIMITS


@dataclass(eq=False, slots=True)
class ValidationRun:
    """A run, and what came of it until now; ``run`` is its id in the store once it began."""

    id: str
    principal: str
    wanted: Wanted
    models: tuple[str, ...]
    started: str = field(default_factory=timestamp)
    ended: str = ""
    state: State = "running"
    run: str = ""
    finished: int = 0
    successes: int = 0
    errors: int = 0
    report: dict[str, Any] | None = None
    problem: str = ""
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    stop: Stop = field(default_factory=Stop)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    news: anyio.Event = field(default_factory=anyio.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.state not in ("running", "stopping")

    @property
    def total(self) -> int:
        """How many trials are planned."""
        scenarios = sum(len(suite.scenarios) for suite in self.wanted.suites)
        return scenarios * len(self.models) * self.wanted.trials

    def tell(self, name: str, **data: Any) -> None:
        """Add an event, and wake those who follow."""
        self.events.append(RunEvent(len(self.events) + 1, name, {"run": self.id, **data}))
        self.news.set()
        self.news = anyio.Event()

    async def following(self, after: int) -> AsyncGenerator[RunEvent]:
        """The events after the one with the id ``after``, those to come too, until the run is over."""
        while True:
            news = self.news
            for event in self.events[after:]:
                after = event.id
                yield event
            if self.is_over and after >= len(self.events):
                return
            if after >= len(self.events):
                await news.wait()


class ValidationRuns:
    """The runs of this app: those that run, and the last ones that ended. A principal sees its own alone.

    At most two of a principal and four in all run at once; the store keeps every trial.
    """

    def __init__(self, app: App, tasks: TaskGroup) -> None:
        self._app = app
        self._tasks = tasks
        self._runs: dict[str, ValidationRun] = {}

    def of(self, principal: str) -> list[ValidationRun]:
        """The runs of ``principal``, the newest last."""
        return [run for run in self._runs.values() if run.principal == principal]

    def get(self, principal: str, run_id: str) -> ValidationRun:
        """That run of ``principal``. Raises ``Problem`` 404."""
        run = self._runs.get(run_id)
        if run is None or run.principal != principal:
            raise Problem(404, f"there is no run {run_id!r} of yours")
        return run

    def start(self, principal: str, wanted: Wanted) -> ValidationRun:
        """Begin a run. Raises ``Problem`` for too many runs or trials, ``UsageError`` for a mode or a model
        that cannot be."""
        running = [run for run in self._runs.values() if not run.is_over]
        own = sum(run.principal == principal for run in running)
        if own >= _MOST_OF_ONE or len(running) >= _MOST_RUNNING:
            least = f"at most {_MOST_OF_ONE} of yours and {_MOST_RUNNING} in all run at once"
            raise Problem(429, f"{least}: cancel one, or wait for its end", headers={"Retry-After": "30"})
        models = tuple(in_modes(wanted.models, wanted.modes, own_providers(self._app.config)))
        run = ValidationRun(secrets.token_hex(8), principal, wanted, models)
        if run.total > MOST_TRIALS:
            raise Problem(
                422,
                f"{run.total:,} trials are too many for a run over the API (at most {MOST_TRIALS:,}): take "
                "fewer suites, models or trials, or use `toolspan validate`",
            )
        self._runs[run.id] = run
        self._forget()
        self._tasks.start_soon(run_contained, "a validation run", partial(self._made, run))
        return run

    def cancel(self, run: ValidationRun) -> None:
        """Begin no more trials of ``run``; asked again, its running ones are given up too."""
        if run.is_over:
            return
        if run.stop.is_asked:
            run.scope.cancel()
        run.state = "stopping"
        run.stop.now()

    async def _made(self, run: ValidationRun) -> None:
        try:
            with run.scope:
                await self._validated(run)
        except BridgeError as error:
            run.problem = error.message
        except Exception as error:
            _log.exception("the validation run %s ended by a defect", run.id)
            run.problem = f"the run ended by a defect ({type(error).__name__}): the server's log has more"
        run.state = "failed" if run.problem else "cancelled" if run.stop.is_asked else "done"
        run.ended = timestamp()
        run.tell("run_ended", state=run.state, problem=run.problem or None, report=run.report)

    async def _validated(self, run: ValidationRun) -> None:
        async with self._app.using(run.principal) as served:
            session, wanted = served.session, run.wanted
            config = session.config
            rule = BadgeRule.of(config)
            by_provider = config.validation.concurrency if config.validation else {}
            limiters = AdaptiveLimiters(lambda provider, rate: run.tell("slower", provider=provider))
            with Store.open(store_of(config), redact=config.redact) as store:
                async with asker_of(session, self._app.host, None, limiters) as asker:
                    report = await validate(
                        run.models,
                        wanted.suites,
                        asker.ask,
                        store,
                        trials=wanted.trials,
                        threshold=rule.threshold,
                        on_event=lambda event: _tell(run, event),
                        on_begin=lambda began: _began(run, began),
                        fingerprint_of=asker.fingerprint,
                        rule=rule,
                        concurrency=Concurrency(None, by_provider),
                        served_of=asker.served,
                        limits=wanted.limits,
                        stop=run.stop,
                    )
            run.report = report.as_dict()

    def _forget(self) -> None:
        """Drop the oldest runs that ended, so that the last ones stay."""
        over = [run for run in self._runs.values() if run.is_over]
        for run in over[: max(0, len(self._runs) - _MOST_KEPT)]:
            del self._runs[run.id]


def _began(run: ValidationRun, began: RunBegan) -> None:
    run.run = began.run
    run.tell("run_started", models=list(run.models), suites=_names(run.wanted.suites), total=run.total)
    for note in began.notes:
        run.tell("notice", text=note)


def _tell(run: ValidationRun, event: Event) -> None:
    place = {"number": event.number, "total": event.total}
    if isinstance(event, TrialStarted):
        run.tell("trial_started", model=event.model_id, scenario=event.scenario, **place)
        return
    trial = event.trial
    run.finished += 1
    run.successes += trial.success
    run.errors += trial.is_error
    run.tell(
        "trial_finished",
        model=trial.model_id,
        suite=trial.suite,
        scenario=trial.scenario,
        success=trial.success,
        is_error=trial.is_error,
        reason=trial.error or None,
        duration_ms=trial.details.get("duration_ms"),
        **place,
    )


def _names(suites: Sequence[Suite]) -> list[str]:
    return [suite.name for suite in suites]
