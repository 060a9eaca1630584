"""A run of validation with a session's tools: its suites are checked, its trials made, kept and exported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolspan_server.common.did_you_mean import known_names
from toolspan_server.common.garbage_collector import frozen
from toolspan_server.config import Config

from ...errors import UsageError
from ...messages import ReasoningEffort
from ...providers.http.rate_limits import AdaptiveLimiters
from ...providers.prices import Pricing
from ...providers.resolve import own_providers, split_model
from ...sessions.chosen.default_model import default_model
from ...sessions.session import Session
from ...sessions.validating import asker_of
from ...validation import (
    EXPORT_FILE,
    TRIAL_TIMEOUT,
    Asker,
    BadgeRule,
    Concurrency,
    RunBegan,
    RunLimits,
    Store,
    Suite,
    ValidationReport,
    check_tools,
    export_records,
    present_of,
    progress,
    validate,
    validate_wordings,
)
from ...validation.between import NOTHING_BETWEEN, Between
from ...validation.reports import baseline_of
from ...validation.runs.journal import Resume
from ...validation.runs.modes import in_modes, without_prompt
from ...validation.runs.progress import Shown
from ...validation.runs.quick import QUICK_SECONDS, sampled
from ...validation.stores import store_of
from ..host import TERMINAL
from ..inputs.validation.run_options import RunChoice
from ..inputs.validation.suites import NamedSuite
from ..terminal.output import print_note
from .batches import batched_run, check_batch, made_by_batches
from .interrupts import interruptible

__all__ = ["store_for", "validated"]

_MOST_EXPORTED = 20_000


async def validated(
    session: Session,
    models: tuple[str, ...],
    suites: Sequence[NamedSuite],
    run: RunChoice,
    reasoning: ReasoningEffort | None = None,
    between: Between = NOTHING_BETWEEN,
) -> tuple[ValidationReport | None, Path | None]:
    """Run ``suites`` with the session's tools as ``run`` says; the report, ``None`` where the run was left to
    workers, and the file that the records were exported to. A run with something ``between`` is made whole
    and, where no number is given, its trials one after another, so that it can be repeated.

    Raises ``ConfigError`` with file and line for tools that a suite names and no server offers, and where
    there is no file ``UsageError``; then no model was asked, and nothing was recorded.
    """
    config = session.config
    rule = BadgeRule.of(config)
    _check(suites, run)
    for each in suites:
        _check_tools(session, each)
    before = baseline_of(run.baseline) if run.baseline else None
    wanted, own = models or (default_model(),), own_providers(config)
    chosen = in_modes(wanted, run.modes, own)
    for model in without_prompt(wanted, run.modes, own):
        print_note(f"{model} takes no prompt: it is tried by its native calls alone")
    _check_prices(session, chosen, run)
    batches = batched_run(config, between) if run.batch else None
    between = batches.between if batches else between
    with Store.open(store_for(config, run.queue), redact=config.redact) as opened_store:
        store = between.kept_in(opened_store)
        limiters = AdaptiveLimiters(_say_slower)
        async with asker_of(session, TERMINAL, reasoning, limiters, between, unchosen=run.wordings) as asker:
            made = partial(
                _made_somewhere, session, asker, store, chosen, suites, run, rule, between, reasoning
            )
            with frozen():
                report = await (made_by_batches(batches, chosen, made) if batches else made())
        if report is None:
            return None, None
        if before is not None:
            report = replace(report, comparison=report.compared(before))
        return report, _exported(store, config, rule)


def _exported(store: Store, config: Config, rule: BadgeRule) -> Path | None:
    """The file that the records were exported to; ``None``, which is said, where there are too many: each
    run would read and write all that were ever made."""
    path = config.state_directory / EXPORT_FILE
    kept = sum(record.counts.tried for record in store.records())
    if kept <= _MOST_EXPORTED:
        return export_records(store, path, present_of(config), rule)
    print_note(
        f"{path} is not written, for {kept:,} trials are kept (at most {_MOST_EXPORTED:,} are exported): "
        "`toolspan report --format json --output FILE` writes those that are chosen"
    )
    return None


def store_for(config: Config, queue: str) -> Path | str:
    """The store of a run: with a ``queue`` it is that database, unless the config or --store names one."""
    if queue and not (config.validation and config.validation.store):
        return queue
    return store_of(config)


async def _made_somewhere(
    session: Session,
    asker: Asker,
    store: Store,
    models: tuple[str, ...],
    named: Sequence[NamedSuite],
    run: RunChoice,
    rule: BadgeRule,
    between: Between,
    reasoning: ReasoningEffort | None,
) -> ValidationReport | None:
    """The trials are made here, or by workers where there is a queue."""
    suites = tuple(each.suite for each in named)
    if run.quick:
        suites = _sample(suites)
    if not run.queue:
        return await _made(session, asker, store, models, suites, run, rule, between)
    if between is not NOTHING_BETWEEN:
        raise UsageError("--record and --replay need the trials here: leave out --queue")
    from .queued import made_by_workers

    return await made_by_workers(session, asker, store, models, suites, run, rule, reasoning)


async def _made(
    session: Session,
    asker: Asker,
    store: Store,
    models: tuple[str, ...],
    suites: Sequence[Suite],
    run: RunChoice,
    rule: BadgeRule,
    between: Between,
) -> ValidationReport:
    """The trials are made, shown as they are."""
    config = session.config
    tried = partial(validate_wordings, own=own_providers(config)) if run.wordings else validate
    by_provider = config.validation.concurrency if config.validation else {}
    resume: Resume = "never" if not between.is_resumed else "fresh" if run.fresh else "unfinished"
    at_once = Concurrency(run.concurrency or between.at_once, by_provider)
    with progress(sys.stderr) as shown:
        async with interruptible(partial(_say_interrupted, shown)) as stop:
            return await tried(
                models,
                suites,
                between.asking(asker.ask),
                store,
                trials=run.trials,
                timeout=run.timeout or TRIAL_TIMEOUT,
                threshold=rule.threshold if run.threshold is None else run.threshold,
                on_event=shown,
                on_begin=partial(_began, shown, between),
                fingerprint_of=asker.fingerprint,
                rule=rule,
                concurrency=at_once,
                served_of=asker.served,
                limits=RunLimits(run.max_cost, run.max_time or (QUICK_SECONDS if run.quick else None)),
                stop=stop,
                resume=resume,
                made=between.made,
            )
    raise AssertionError("a run that is left raises click.Abort")


def _began(shown: Shown, between: Between, began: RunBegan) -> None:
    between.on_begin(began)
    for note in began.notes:
        print_note(note)
    shown.begin(began)


def _say_interrupted(shown: Shown) -> None:
    running = len(shown.tally.running)
    print_note(
        f"no more trials are begun; {running} that {'is' if running == 1 else 'are'} running may end (Ctrl+C "
        "again leaves at once; the same command goes on with the rest)"
    )


def _say_slower(provider: str, rate: float) -> None:
    print_note(f"the rate limit of {provider} was reached: its requests wait and go on more slowly")


def _check(suites: Sequence[NamedSuite], run: RunChoice) -> None:
    if run.detach and not run.queue:
        raise UsageError("--detach leaves a run to workers: give --queue too, or leave it out")
    if run.detach and run.baseline:
        raise UsageError("--detach makes no report, so there is nothing to compare: leave out --baseline")
    if run.wordings and (run.modes or len(suites) > 1):
        raise UsageError("--wordings tries every mode with one suite: leave out --mode, and name one --suite")
    if run.quick and run.trials != 1:
        raise UsageError("--quick asks each scenario once: leave out --trials")
    check_batch(run)


def _check_tools(session: Session, named: NamedSuite) -> None:
    tools = session.toolbox.tools
    if not named.suite.faults_with(tools):
        return
    if named.file is not None and not session.no_tools:
        check_tools(named.file, named.suite, tools)
    missing, offered = named.suite.missing_tools(tools), [tool.name for tool in tools]
    raise session.no_tools or UsageError(
        f"the suite {named.suite.name!r} names tools that no server offers, so nothing was run or recorded: "
        f"{', '.join(missing)} ({known_names(sorted(offered))}; --suite FILE is a suite of your own)"
    )


def _check_prices(session: Session, models: Sequence[str], run: RunChoice) -> None:
    """Raise ``UsageError`` where the cost is limited and that of a model has no bound."""
    if run.max_cost is None:
        return
    own = own_providers(session.config)
    unpriced: list[str] = []
    for model in models:
        provider, name = split_model(model, own)
        bare = provider.rpartition(":")[2]
        if not Pricing(bare, name, bare in own).is_known:
            unpriced.append(model)
    if unpriced:
        raise UsageError(
            f"no price is known of {', '.join(unpriced)}: --max-cost would not hold. Leave it out, or name "
            "only models with a price (--trials and --max-time limit a run too)"
        )


def _sample(suites: Sequence[Suite]) -> tuple[Suite, ...]:
    chosen = sampled(suites)
    asked, there = (sum(len(suite.scenarios) for suite in each) for each in (chosen, suites))
    print_note(
        f"a quick look: {asked:,} of {there:,} scenarios, once each, for at most {QUICK_SECONDS:g} s; it "
        "shows what is badly wrong, and proves little else"
    )
    return chosen
