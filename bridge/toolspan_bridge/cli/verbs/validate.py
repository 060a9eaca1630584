"""``toolspan validate``: measured proof of which models use the tools."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import anyio
import click

from ...messages import ReasoningEffort
from ...validation import (
    EXPORT_FILE,
    STORE_FILE,
    THRESHOLD,
    Asker,
    Store,
    Suite,
    ValidationReport,
    default_suite,
    export_records,
    load_suite,
    print_report,
    progress,
    validate,
    validate_wordings,
)
from ..asking.asker import default_model
from ..asking.session import Session, opened
from ..inputs.options import ConfigChoice, config_options, json_option, reasoning_option
from ..terminal.output import emit_json, print_note


@click.command(name="validate", short_help="Measure which models use the tools.")
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="PROVIDER/MODEL",
    help="A model to try; may repeat. Default: $TOOLSPAN_MODEL, else offline/keyword.",
)
@click.option(
    "--suite", "suite_path", metavar="FILE", help="A YAML suite. Default: the four built-in scenarios."
)
@click.option("--trials", default=1, show_default=True, help="How often each scenario is asked.")
@click.option(
    "--threshold", default=THRESHOLD, show_default=True, help="The share of trials that must succeed."
)
@click.option(
    "--wordings",
    is_flag=True,
    help="Try each model by its native calls and by each wording of the prompt, and choose the best wording.",
)
@reasoning_option
@config_options
@json_option
def command(
    models: tuple[str, ...],
    suite_path: str | None,
    trials: int,
    threshold: float,
    wordings: bool,
    reasoning: ReasoningEffort | None,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Put a suite of scenarios to models and record which of them use the tools as expected.

    Every trial is kept in the state folder (.toolspan) as soon as it ends. Exit 6 when a model falls below
    the threshold; with --wordings, when neither its native calls nor the best wording reach it.
    """
    suite = load_suite(Path(suite_path)) if suite_path else default_suite()

    async def run() -> tuple[ValidationReport, Path]:
        async with opened(choice) as session:
            return await validated(session, models, suite, trials, threshold, reasoning, wordings)

    report, records = anyio.run(run)
    if as_json:
        emit_json(report.as_dict(records))
    else:
        print_report(report, sys.stdout, records)
    return report.exit_code


async def validated(
    session: Session,
    models: tuple[str, ...],
    suite: Suite,
    trials: int = 1,
    threshold: float = THRESHOLD,
    reasoning: ReasoningEffort | None = None,
    wordings: bool = False,
) -> tuple[ValidationReport, Path]:
    """Run ``suite`` with the session's tools, by every wording of the prompt too where ``wordings`` says so;
    the report, and the file that the records were exported to."""
    config, allow = session.config, session.choice.allow
    state = config.state_directory
    tried = partial(validate_wordings, own=config.providers) if wordings else validate
    if missing := suite.missing_tools(tool.name for tool in session.toolbox.tools):
        print_note(f"the suite expects {', '.join(missing)}, which no server offers")
    chosen = models or (default_model(),)
    with Store.open(state / STORE_FILE, redact=config.redact) as store:
        async with Asker(
            config, session.toolbox, allow=allow, reasoning=reasoning, on_note=print_note
        ) as asker:
            with progress(sys.stderr) as on_event:
                report = await tried(
                    chosen, suite, asker.ask, store, trials=trials, threshold=threshold, on_event=on_event
                )
        return report, export_records(store, state / EXPORT_FILE)
