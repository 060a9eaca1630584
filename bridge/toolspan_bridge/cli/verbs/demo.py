"""``toolspan demo``: the whole job on real input, from a folder of its own."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

import anyio
import click

from ...formats import format_names, get_format
from ...formats.names import NameTable
from ...validation import default_suite, print_report
from ..asking.asker import RoutedAsker, default_model
from ..asking.options import AskOptions
from ..asking.session import Session, opened
from ..inputs.options import ConfigChoice, model_option
from ..terminal.output import as_json, heading, print_message
from ..terminal.talk import Printer, talk
from .validate import validated

_QUESTIONS = (
    "What's the weather in Paris?",
    "Calculate 15% tip on $45",
    "Search for Python decorators in the docs",
)


@click.command(name="demo", short_help="Run the whole tour on real input.")
@click.option(
    "--dir", "folder", default="toolspan-demo", show_default=True, help="Where the demo's files are put."
)
@model_option
def command(folder: str, model: str | None) -> int:
    """Put an example config into a folder and do the whole job with it.

    Its tools are served over MCP by a subprocess, shown in each provider's format, called by a model in the
    loop, and validated. Without --model that is offline/keyword, which needs no key and is no language model.
    """
    place = Path(folder)
    with as_file(files("toolspan_bridge") / "demo") as example:
        shutil.copytree(example, place, dirs_exist_ok=True)
    return anyio.run(_show, place / "toolspan.yaml", model or default_model())


async def _show(config: Path, model: str) -> int:
    async with opened(ConfigChoice((str(config),))) as session:
        heading(f"1. The tools of {config}, served over MCP by a subprocess")
        for tool in session.toolbox.tools:
            print_message(f"{tool.name:18} {tool.description}")
        heading("2. One tool in every wire format")
        _show_formats(session)
        heading(f"3. Questions, answered by {model}")
        await _show_answers(session, model)
        heading("4. Validation")
        report, records = await validated(session, (model,), default_suite())
        print_report(report, sys.stdout, records)
    heading("Next")
    program = _program()
    print_message(f"{program} chat --config {config}\n{program} serve --config {config}")
    return report.exit_code


def _program() -> str:
    """How ``toolspan`` is started from here: by its path where the shell does not find it (``make demo``)."""
    path = Path(sys.executable).with_name("toolspan")
    if shutil.which("toolspan") or not path.exists():
        return "toolspan"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


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
