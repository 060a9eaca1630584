"""``toolspan validate``: measure which models use the tools."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import click

from toolspan_server.common.did_you_mean import known_names

from ...approvals import PolicyApprover
from ...errors import UsageError
from ...messages import ReasoningEffort
from ...validation import (
    EXPORT_FILE,
    THRESHOLD,
    Asker,
    BadgeRule,
    Store,
    Suite,
    ValidationReport,
    check_tools,
    export_records,
    present_of,
    print_report,
    progress,
    validate,
    validate_wordings,
)
from ...validation.between import NOTHING_BETWEEN, Between
from ...validation.bfcl import BfclSuite, left_out_notes, suite_of
from ...validation.stores import store_of
from ..asking.default_model import default_model
from ..asking.making_suites import suite_writing_options
from ..asking.session import Session
from ..asking.taped import Taped, taped
from ..inputs.options import (
    ConfigChoice,
    config_options,
    debug_option,
    json_option,
    locked_option,
    reasoning_option,
    servers_option,
    tool_options,
)
from ..inputs.recording import RecordingChoice, recording_options
from ..inputs.store import store_option
from ..inputs.suites import file_of, named_suite
from ..module_group import Verb
from ..terminal.output import emit_json, print_note
from ..terminal.scored_answers import score_answers


@click.command(name="validate", cls=Verb, example="toolspan validate -m ollama/qwen3:8b --trials 10")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="PROVIDER/MODEL",
    help="A model to try; may repeat. Default: $TOOLSPAN_MODEL, else the user's, else offline/keyword.",
)
@click.option(
    "--suite",
    "suite_name",
    metavar="FILE",
    help="A YAML suite; or bfcl:PATH, a file or folder of the Berkeley Function-Calling Leaderboard; or "
    "promptfoo:FILE, testmcpy:FILE, inspect:FILE. Default: the four built-in scenarios.",
)
@click.option(
    "--answers",
    metavar="FILE",
    help='Score recorded answers, JSON lines {"id", "calls": [{"name", "arguments"}], "answer"}, '
    "and ask no model; - is stdin.",
)
@click.option("--trials", default=1, show_default=True, help="How often each scenario is asked.")
@click.option(
    "--threshold",
    type=float,
    help="The share of trials that must succeed. Default: the config's validation.threshold, else 0.8.",
)
@click.option(
    "--wordings",
    is_flag=True,
    help="Try each model by its native calls and by each wording of the prompt, and choose the best wording.",
)
@recording_options
@reasoning_option
@config_options
@store_option
@locked_option
@debug_option
@tool_options
@servers_option
@json_option
@suite_writing_options
def command(
    models: tuple[str, ...],
    suite_name: str | None,
    answers: str | None,
    trials: int,
    threshold: float | None,
    wordings: bool,
    recording: RecordingChoice,
    reasoning: ReasoningEffort | None,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Put a suite of scenarios to models and record which of them use the tools as expected.

    A suite that names tools which no server offers is not run: exit 2.

    With --generate a suite is made of the tools that --config and --server lead to, and with --write-suite
    of another program's file; nothing is run. What cannot be made or taken is listed on stderr.

    Every trial is kept in the state folder (.toolspan) as soon as it ends. Exit 6 when a model falls below
    the threshold; with --wordings, when neither its native calls nor the best wording reach it.

    With --record every reply of a model and every result of a tool is kept in a private file, without
    secrets; --replay runs it again without network: same verdicts, same report, same records, and each trial
    is in the store once. What is asked and is not in the recording is an error of its trial, which says what
    differs: exit 2.

    With --answers no model is asked and nothing is recorded: each id of the suite gets a verdict with its
    reason, with --json as a line {"id", "success", "reason"}. Exit 2 for a line that is no answer, an unknown
    id and one that is there twice; an id without an answer is a failure.
    """
    suite = named_suite(suite_name)
    if answers is not None:
        _only_answers(models, trials, wordings, recording)
        least = THRESHOLD if threshold is None else threshold
        return score_answers(answers, suite, least, as_json=as_json)
    if isinstance(suite, BfclSuite):
        for note in left_out_notes(suite):
            print_note(note)
        suite_name, suite = None, suite_of(suite)

    async def run() -> tuple[ValidationReport, Path, Taped]:
        async with taped(choice, recording) as tape:
            file = file_of(suite_name)
            report, records = await validated(
                tape.session, models, suite, trials, threshold, reasoning, wordings, file, tape.between
            )
        return report, records, tape

    report, records, tape = anyio.run(run)
    if as_json:
        emit_json(report.as_dict(records))
    else:
        print_report(report, sys.stdout, records)
    return tape.exit_code or report.exit_code


def _only_answers(models: tuple[str, ...], trials: int, wordings: bool, recording: RecordingChoice) -> None:
    if models or wordings or trials != 1:
        raise UsageError("--answers asks no model: leave out --model, --trials and --wordings")
    if recording != RecordingChoice():
        raise UsageError("--answers asks no model: leave out --record and --replay")


async def validated(
    session: Session,
    models: tuple[str, ...],
    suite: Suite,
    trials: int = 1,
    threshold: float | None = None,
    reasoning: ReasoningEffort | None = None,
    wordings: bool = False,
    suite_file: Path | None = None,
    between: Between = NOTHING_BETWEEN,
) -> tuple[ValidationReport, Path]:
    """Run ``suite`` with the session's tools, by every wording of the prompt too where ``wordings`` says so;
    the report, and the file that the records were exported to. ``suite_file`` is where ``suite`` was read.

    Raises ``ConfigError`` with file and line for tools that the suite names and no server offers, and where
    there is no file ``UsageError``; then no model was asked, and nothing was recorded.
    """
    config, allow = session.config, session.choice.allow
    state, rule = config.state_directory, BadgeRule.of(config)
    tried = partial(validate_wordings, own=config.providers) if wordings else validate
    tools = session.toolbox.tools
    if suite.faults_with(tools):
        if suite_file is not None and not session.no_tools:
            check_tools(suite_file, suite, tools)
        raise session.no_tools or UsageError(_unknown(suite, suite.missing_tools(tools), session))
    chosen = models or (default_model(),)
    with Store.open(store_of(config), redact=config.redact) as opened_store:
        store = between.kept_in(opened_store)
        async with Asker(
            config,
            session.toolbox,
            allow=allow,
            reasoning=reasoning,
            on_note=print_note,
            approver=PolicyApprover(departure_of=session.baseline.departure),
            between=between,
        ) as asker:
            with progress(sys.stderr) as on_event:
                report = await tried(
                    chosen,
                    suite,
                    asker.ask,
                    store,
                    trials=trials,
                    threshold=rule.threshold if threshold is None else threshold,
                    on_event=on_event,
                    fingerprint_of=asker.fingerprint,
                    rule=rule,
                    made=between.made,
                )
        return report, export_records(store, state / EXPORT_FILE, present_of(config), rule)


def _unknown(suite: Suite, missing: Sequence[str], session: Session) -> str:
    """The error for a suite that names tools which are ``missing``."""
    offered = [tool.name for tool in session.toolbox.tools]
    return (
        f"the suite {suite.name!r} names tools that no server offers, so nothing was run or recorded: "
        f"{', '.join(missing)} ({known_names(sorted(offered))}; --suite FILE is a suite of your own)"
    )
