"""``toolspan demo``: run the whole tour on real input."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import click

from ...errors import UsageError
from ...formats import format_names, get_format
from ...formats.names import NameTable
from ...sessions.asker import RoutedAsker
from ...sessions.chosen.config import ConfigChoice
from ...sessions.chosen.default_model import default_model
from ...sessions.session import Session, opened
from ...validation import print_report
from ..asking.options import AskOptions
from ..demo_folder import DemoFolder
from ..host import TERMINAL
from ..inputs.options import model_option
from ..inputs.validation.run_options import RunChoice
from ..inputs.validation.suites import suites_to_run
from ..module_group import Verb
from ..terminal.output import as_json, heading, print_message
from ..terminal.program import command_line
from ..terminal.questions.lines import asked_yes
from ..terminal.questions.one_question import has_terminal
from ..terminal.talk import Printer, talk
from ..validating.run import validated

_QUESTIONS = (
    "What's the weather in Paris?",
    "Calculate 15% tip on $45",
    "Search for Python decorators in the docs",
)


@click.command(name="demo", cls=Verb, example="toolspan demo --dir tour")
@click.option(
    "--dir", "folder", default="toolspan-demo", show_default=True, help="Where the demo's files are put."
)
@model_option
def command(folder: str, model: str | None) -> int:
    """Put an example config into a folder and do the whole job with it.

    Its tools are served over MCP by a subprocess, shown in each provider's format, called by a model in the
    loop, and validated. Without --model that is the default model; where none is set, offline/keyword, which
    needs no key and is no language model.

    A folder whose files were edited is left as it is; another one is offered.
    """
    place = _unedited(DemoFolder(Path(folder)))
    place.write()
    return anyio.run(_show, place.config, model or default_model())


def _unedited(place: DemoFolder) -> DemoFolder:
    """``place``, or a new folder beside it where the person chooses that. Raises ``UsageError``."""
    edited = place.edited()
    if not edited:
        return place
    other = place.free_neighbour()
    what = f"{place.place} was edited ({', '.join(edited)})"
    if has_terminal() and asked_yes(f"{what} and stays as it is. Use {other} instead?"):
        return DemoFolder(other)
    again = command_line("demo", "--dir", str(other))
    raise UsageError(f"{what}, so nothing was written; in another folder: {again}")


async def _show(config: Path, model: str) -> int:
    async with opened(ConfigChoice((str(config),)), TERMINAL) as session:
        heading(f"1. The tools of {config}, served over MCP by a subprocess")
        for tool in session.toolbox.tools:
            print_message(f"{tool.name:18} {tool.description}")
        heading("2. One tool in every wire format")
        _show_formats(session)
        heading(f"3. Questions, answered by {model}")
        await _show_answers(session, model)
        heading("4. Validation")
        report, records = await validated(session, (model,), suites_to_run(()), RunChoice(fresh=True))
        assert report is not None  # only a run that is left to workers has none
        print_report(report, sys.stdout, records)
    heading("Next")
    for verb in ("chat", "serve"):
        print_message(command_line(verb, "--config", str(config)))
    return report.exit_code


def _show_formats(session: Session) -> None:
    tools = (session.tool("calculate"),)
    for name in format_names():
        payload = get_format(name).render_tools(tools, NameTable.of(tools))
        print_message(f"{name:17} {as_json(payload)}")


async def _show_answers(session: Session, model: str) -> None:
    async with RoutedAsker(session) as asker:
        for text in _QUESTIONS:
            question, provider = await asker.routed(text, AskOptions(model))
            print_message(f"you> {text}")
            answer = await talk(question, provider, session.toolbox, Printer(sys.stdout))
            print_message(f"{answer.content}\n")
