"""``toolspan validate``: measure which models use the tools."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import click

from ...errors import UsageError
from ...messages import ReasoningEffort
from ...sessions.chosen.config import ConfigChoice
from ...validation import THRESHOLD, ValidationReport, default_suite, print_report
from ..asking.making_suites import suite_writing_options
from ..asking.taped import Taped, taped
from ..inputs.options import (
    config_options,
    debug_option,
    json_option,
    locked_option,
    reasoning_option,
    servers_option,
    tool_options,
)
from ..inputs.store import store_option
from ..inputs.validation.definition_options import DefinitionsChoice, definition_options
from ..inputs.validation.recording import RecordingChoice, recording_options
from ..inputs.validation.run_options import RunChoice, run_options
from ..inputs.validation.suites import named_suite, suites_to_run
from ..module_group import Verb
from ..terminal.output import emit_json, print_note
from ..validating.definitions import compared
from ..validating.run import validated
from ..validating.scored_answers import score_answers


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
    "--answers",
    metavar="FILE",
    help='Score recorded answers, JSON lines {"id", "calls": [{"name", "arguments"}], "answer"}, '
    "and ask no model; - is stdin.",
)
@run_options
@recording_options
@definition_options
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
    answers: str | None,
    run: RunChoice,
    recording: RecordingChoice,
    definitions: DefinitionsChoice,
    reasoning: ReasoningEffort | None,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Put a suite of scenarios to models and record which of them use the tools as expected.

    A suite that names tools which no server offers is not run: exit 2.

    With --generate a suite is made of the tools that --config and --server lead to, and with --write-suite
    of another program's file; nothing is run. What cannot be made or taken is listed on stderr.

    Every trial is kept in the state folder (.toolspan) as soon as it ends. A run that was ended, by a limit,
    Ctrl+C or anything else, is gone on with by the same command. Errors of a provider are neither successes
    nor failures, and its rate limits make the run slower.

    Exit 6 when a model falls below the threshold, with --wordings when neither its native calls nor the best
    wording reach it; 9 when a limit ended the run; 1 when errors left too few outcomes.

    With --record every reply of a model and every result of a tool is kept in a private file, without
    secrets; --replay runs it again without network: same verdicts, same report, same records, and each trial
    is in the store once. What is asked and is not in the recording is an error of its trial, which says what
    differs: exit 2.

    With --queue any number of workers make the trials (see toolspan worker), and this follows the run: it
    may be ended and given again, and puts nothing twice. Exit 3 or 4 when no worker there can ask a model.

    With --batch each turn of all trials is one batch of the provider: the run may take a day, and costs about
    half. Exit 2 for a provider without a batch service.

    With --answers no model is asked and nothing is recorded: each id of the suite gets a verdict with its
    reason, with --json as a line {"id", "success", "reason"}. Exit 2 for a line that is no answer, an unknown
    id and one that is there twice; an id without an answer is a failure.
    """
    definitions.check(run, answers)
    if answers is not None:
        if recording != RecordingChoice():
            raise UsageError("--answers asks no model: leave out --record and --replay")
        return _scored(answers, models, run, as_json=as_json)
    if definitions.compares:
        if recording != RecordingChoice():
            raise UsageError("--against and --suggest are two runs: leave out --record and --replay")
        return compared(definitions, choice, models, run, reasoning, as_json=as_json)
    suites = suites_to_run(run.suites)

    async def made() -> tuple[ValidationReport | None, Path | None, Taped]:
        async with taped(choice, recording) as tape:
            report, records = await validated(tape.session, models, suites, run, reasoning, tape.between)
        return report, records, tape

    report, records, tape = anyio.run(made)
    if report is None:
        return 0
    if as_json:
        emit_json(report.as_dict(records))
    else:
        print_report(report, sys.stdout, records)
    for worse in report.comparison.regressions if report.comparison else ():
        name = ", ".join(part for part in worse.name if part)
        print_note(f"{name} is worse than the baseline: {worse.before.text} before, {worse.now.text} now")
    return tape.exit_code or report.exit_code


def _scored(answers: str, models: tuple[str, ...], run: RunChoice, *, as_json: bool) -> int:
    """Score recorded ``answers``: no model is asked, so that nothing can be said of how."""
    if models or set(run.given) - {"--threshold"}:
        raise UsageError("--answers asks no model: leave out everything but --suite, --threshold and --json")
    if len(run.suites) > 1:
        raise UsageError("--answers are to one suite: name one --suite")
    suite = named_suite(run.suites[0]) if run.suites else default_suite()
    least = THRESHOLD if run.threshold is None else run.threshold
    return score_answers(answers, suite, least, as_json=as_json)
