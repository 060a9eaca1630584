"""``toolspan ask``: one question, answered with the tools."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio
import click

from ...conversation import Conversation
from ...errors import UsageError
from ..asking.approving import approver_of
from ..asking.asker import RoutedAsker
from ..asking.options import AskOptions, ask_options
from ..asking.session import opened
from ..inputs.approvals import ApprovalChoice, approval_options
from ..inputs.options import (
    ConfigChoice,
    config_options,
    json_option,
    workspace_option,
)
from ..inputs.schema import read_schema
from ..terminal.costs import cost_data, cost_line
from ..terminal.output import emit_json, print_note
from ..terminal.talk import Printer, talk

EXIT_NO_FIT = 8
"""The exit code when the answer does not fit the schema that it has to fit."""


@click.command(name="ask", short_help="Answer one question with the tools.")
@click.argument("question")
@ask_options
@click.option("--service", metavar="NAME", help="For routes that match a service.")
@click.option("--schema", "schema_path", metavar="FILE", help="A JSON Schema that the answer has to fit.")
@approval_options
@config_options
@workspace_option
@json_option
def command(
    question: str,
    options: AskOptions,
    service: str | None,
    schema_path: str | None,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Ask a model QUESTION with the config's tools and print the answer; - reads the question from stdin.

    The tool calls, their results and times are printed on stderr, or in the JSON. At a terminal the answer is
    shown as it comes. An incomplete answer (it breaks off, is cut off, refused, malformed or empty) is
    printed as far as it came, and the exit code is 1.

    What it cost is on stderr where a price is known, or in the JSON ("cost": {"usd": …}, null for unknown).

    With --schema the answer is one JSON value, printed alone ("value" in the JSON). The model is told once
    why its answer does not fit; when the next one does not either, it is printed and the exit code is 8.
    """
    text = sys.stdin.read().strip() if question == "-" else question.strip()
    if not text:
        raise UsageError("the question is empty")
    schema = None if schema_path is None else read_schema(Path(schema_path))
    options = options if schema is None else replace(options, stream=False)

    async def run() -> int:
        async with opened(choice) as session, RoutedAsker(session) as asker:
            asked, provider = await asker.routed(text, options, service=service)
            printer = Printer(sys.stderr, quiet=as_json, live=sys.stdout if options.stream else None)
            asked = replace(options.applied_to(asked), answer_schema=schema)
            meter = asker.meter(asked, provider)
            conversation = Conversation()
            approver = approver_of(session, approvals, conversation.id)
            answer = await talk(
                asked, provider, session.toolbox, printer, conversation, meter, approver=approver
            )
            if as_json:
                emit_json({**answer.as_dict(), "cost": cost_data(meter.usd)})
            elif answer.fits:
                emit_json(answer.value)
            else:
                printer.answer(answer.content, answer.citations)
            if meter.may_be_known and not as_json:
                print_note(cost_line(meter.usd))
            return EXIT_NO_FIT if answer.stop == "schema" else 1 if answer.broken else 0

    return anyio.run(run)
