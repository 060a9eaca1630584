"""``toolspan ask``: one question, answered with the tools."""

from __future__ import annotations

import sys

import anyio
import click

from ...errors import UsageError
from ..asking.asker import RoutedAsker
from ..asking.options import AskOptions, ask_options
from ..asking.session import opened
from ..inputs.options import ConfigChoice, config_options, json_option
from ..terminal.output import emit_json
from ..terminal.talk import Printer, talk


@click.command(name="ask", short_help="Answer one question with the tools.")
@click.argument("question")
@ask_options
@click.option("--service", metavar="NAME", help="For routes that match a service.")
@config_options
@json_option
def command(
    question: str,
    options: AskOptions,
    service: str | None,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Ask a model QUESTION with the config's tools and print the answer; - reads the question from stdin.

    The tool calls, their results and times are printed on stderr, or in the JSON. At a terminal the answer is
    shown as it comes. An incomplete answer (it breaks off, is cut off, refused, malformed or empty) is
    printed as far as it came, and the exit code is 1.
    """
    text = sys.stdin.read().strip() if question == "-" else question.strip()
    if not text:
        raise UsageError("the question is empty")

    async def run() -> int:
        async with opened(choice) as session, RoutedAsker(session) as asker:
            asked, provider = await asker.routed(text, options, service=service)
            printer = Printer(sys.stderr, quiet=as_json, live=sys.stdout if options.stream else None)
            answer = await talk(options.applied_to(asked), provider, session.toolbox, printer)
            if as_json:
                emit_json(answer.as_dict())
            else:
                printer.answer(answer.content, answer.citations)
            return 1 if answer.broken else 0

    return anyio.run(run)
