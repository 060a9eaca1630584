"""The types of ``toolspan_bridge``'s surface: validation and wire formats; checked, never run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

from toolspan_bridge import (
    EXPORT_FILE,
    MINIMUM,
    STORE_FILE,
    THRESHOLD,
    TRIAL_TIMEOUT,
    Answer,
    Asker,
    AskModel,
    Badge,
    BadgeRule,
    ChosenWordings,
    Comparison,
    Conversed,
    Counts,
    Evidence,
    Expect,
    ExpectedCall,
    Finding,
    Fingerprint,
    Format,
    FormatError,
    Lint,
    Loss,
    ModelReport,
    NameTable,
    Record,
    Reply,
    Run,
    Scenario,
    Store,
    StreamFailed,
    StreamParser,
    Suite,
    Toolbox,
    ToolSpec,
    Totals,
    Tracker,
    Trial,
    TrialFinished,
    TrialStarted,
    Turn,
    UnvalidatedError,
    ValidationReport,
    Verdict,
    WireError,
    WordingChoice,
    badge_of,
    badge_of_model,
    build_record,
    build_records,
    compared,
    default_suite,
    export_records,
    format_names,
    get_format,
    judge,
    lint,
    load_suite,
    present_of,
    print_report,
    progress,
    read_choices,
    read_records,
    records_of,
    validate,
    validate_wordings,
)
from toolspan_server import load_config

EXPECT = Expect(calls=(ExpectedCall(tool="calculate"),))
SUITE = Suite(name="sums", scenarios=(Scenario(query="12 * 7?", expect=EXPECT),))


def noted(event: TrialStarted | TrialFinished) -> None:
    assert_type(event.number, int)


async def validated(state: Path, toolbox: Toolbox) -> int:
    models, suites = ["offline/keyword"], [SUITE, default_suite(), load_suite(state / "suite.yaml")]
    with Store.open(state / STORE_FILE) as store, progress(sys.stderr) as on_event:
        async with Asker(load_config("toolspan.yaml"), toolbox) as asker:
            ask: AskModel = asker.ask
            conversed = assert_type(await ask(models[0], SUITE.scenarios[0]), Conversed)
            assert_type(conversed.last, Answer)
            assert_type(SUITE.scenarios[0].asked, tuple[Turn, ...])
            report = await validate(models, suites[0], ask, store, timeout=TRIAL_TIMEOUT, on_event=on_event)
            await validate(models, suites[1], ask, store, threshold=THRESHOLD, on_event=noted)
            await validate_wordings(models, suites[0], ask, store, own=("mine",))
            ask = asker  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
        assert_type(read_choices(state / STORE_FILE), dict[str, WordingChoice])
        assert_type(ChosenWordings(state / STORE_FILE)("offline/keyword"), str)
        assert_type(store.trials(), list[Trial])
        assert_type(store.totals("offline/keyword"), Totals)
        assert_type(build_records(store.trials()), list[dict[str, Any]])
        assert_type(build_record("offline/keyword", store.trials()), dict[str, Any])
        print_report(report, sys.stdout, assert_type(export_records(store, state / EXPORT_FILE), Path))
    assert_type(report, ValidationReport)
    assert_type(report.models, tuple[ModelReport, ...])
    return report.exit_code


def resumed(store: Store, plan: str) -> frozenset[int]:
    run = assert_type(store.unfinished(plan), Run | None)
    store.begin(run or Run("1", plan, "2026-11-21T10:00:00.000Z", contents={"trials": 3}))
    store.finish("1")
    return assert_type(store.done("1"), frozenset[int])


def measured(state: Path, store: Store) -> str:
    rule, present = BadgeRule(minimum=MINIMUM), present_of(load_config("toolspan.yaml"))
    records = assert_type(read_records(state / STORE_FILE, present), list[Record])
    (record, *_) = records_of(store.trials(), present)
    assert_type(record.fingerprint, Fingerprint | None)
    assert_type(record.evidence, Evidence)
    found = compared({("m", "s", "x"): Counts(4, 3)}, {("m", "s", "x"): Counts(4, 4)})
    assert_type(found, Comparison)
    tracker = Tracker.of_records(build_records(store.trials()))
    assert_type(tracker.badge("offline/keyword", rule), Badge)
    if badge_of_model(records, rule).status != "validated":
        raise UnvalidatedError(badge_of(record, rule).text)
    return badge_of(record).svg("tools")


def judged(answer: Answer) -> bool:
    return assert_type(judge(EXPECT, answer), Verdict).success


def rendered(tools: list[ToolSpec], name: str, body: bytes) -> Reply | WireError:
    wire = assert_type(get_format(name), Format)
    wire.render_tools(tools, NameTable.of(tools))
    assert_type(wire.losses(tools), list[Loss])
    found = assert_type(lint(tools, format_names()), Lint)
    assert_type(found.findings, tuple[Finding, ...])
    headers: Mapping[str, str] = {}
    try:
        return assert_type(wire.parse_reply(body), Reply)
    except FormatError:
        return wire.parse_error(500, headers, body)


def streamed(parser: StreamParser, chunk: bytes) -> Reply | WireError:
    try:
        parser.feed(chunk)
    except StreamFailed as failed:
        return assert_type(failed.error, WireError)
    return parser.end()
