"""``toolspan ask``: one question, answered with the tools."""

from __future__ import annotations

import sys

import anyio
import click

from ...errors import UsageError
from ...routes import check_builtins
from ..asking.asker import Asker, AskOptions
from ..asking.session import opened
from ..inputs.images import read_images
from ..inputs.options import ConfigChoice, config_options, json_option, model_option, talk_options
from ..terminal.output import emit_json
from ..terminal.talk import Printer, live_terminal, talk


@click.command(name="ask", short_help="Answer one question with the tools.")
@click.argument("question")
@model_option
@click.option("--system", metavar="TEXT", help="The system prompt; wins over the route's.")
@click.option("--service", metavar="NAME", help="For routes that match a service.")
@talk_options
@config_options
@json_option
def command(
    question: str,
    model: str | None,
    system: str | None,
    service: str | None,
    builtins: tuple[str, ...],
    images: tuple[str, ...],
    no_stream: bool,
    trim: bool,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Ask a model QUESTION with the config's tools and print the answer; - reads the question from stdin.

    The tool calls, their results and times are told on stderr, or in the JSON. At a terminal the answer is
    shown as it comes. One that is no whole answer (it breaks off, is cut off, refused, malformed or empty) is
    printed as far as it came, and the exit code is 1.
    """
    text = sys.stdin.read().strip() if question == "-" else question.strip()
    if not text:
        raise UsageError("the question is empty")

    check_builtins(builtins)
    live = None if as_json else live_terminal(no_stream=no_stream)
    options = AskOptions(read_images(images), builtins, stream=live is not None, trim=trim)

    async def run() -> int:
        async with opened(choice) as session, Asker(session) as asker:
            asked, provider = await asker.routed(text, model=model, service=service, system=system)
            printer = Printer(sys.stderr, quiet=as_json, live=live)
            answer = await talk(options.added(asked), provider, session.toolbox, printer)
            if as_json:
                emit_json(answer.as_dict())
            else:
                printer.answer(answer.content)
            return 1 if answer.broken else 0

    return anyio.run(run)
