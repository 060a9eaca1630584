"""``toolspan ask``: one question, answered with the tools."""

from __future__ import annotations

import sys

import anyio
import click

from ..errors import UsageError
from ._ask import Asker
from ._options import config_options, json_option, model_option
from ._output import emit_json
from ._session import opened
from ._talk import Printer, talk


@click.command(name="ask", short_help="Answer one question with the tools.")
@click.argument("question")
@model_option
@click.option("--system", metavar="TEXT", help="The system prompt; wins over the route's.")
@click.option("--service", metavar="NAME", help="For routes that match a service.")
@config_options
@json_option
def command(
    question: str,
    model: str | None,
    system: str | None,
    service: str | None,
    config_paths: tuple[str, ...],
    skip_invalid: bool,
    as_json: bool,
) -> None:
    """Ask a model QUESTION with the config's tools and print the answer; - reads the question from stdin.

    The tool calls, their results and times are told on stderr, or in the JSON.
    """
    text = sys.stdin.read().strip() if question == "-" else question.strip()
    if not text:
        raise UsageError("the question is empty")

    async def run() -> None:
        async with opened(config_paths, skip_invalid=skip_invalid) as session, Asker(session) as asker:
            asked, provider = await asker.routed(text, model=model, service=service, system=system)
            answer = await talk(asked, provider, session.toolbox, Printer(sys.stderr, quiet=as_json))
            if as_json:
                emit_json(answer.as_dict())
            else:
                click.echo(answer.content)

    anyio.run(run)
