"""``toolspan export``: print what a provider would be sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio
import click

from ...errors import UsageError
from ...findings import asked_losses, tools_asking_strict
from ...formats import Loss, format_names, get_format
from ...formats.names import NameTable
from ...loop import SEARCH
from ...messages import Request, ToolSpec
from ...providers import ProviderPool, own_providers
from ...providers.resolve import with_choice
from ...sessions.asker import chosen_wordings
from ...sessions.chosen.config import ConfigChoice
from ...sessions.request import asked_request, is_full, model_of, way_of
from ...sessions.session import Session, opened
from ..curl import curl
from ..host import TERMINAL
from ..inputs.options import config_options, locked_option, server_option, tool_options
from ..inputs.profile import profile_options
from ..long_lists import all_option, grouped, is_too_long, note_how_to_see_all
from ..module_group import Verb
from ..terminal.output import emit_bytes, emit_json, emit_table, print_message, print_note
from ..terminal.waiting.waits import waiting

if TYPE_CHECKING:
    from ...providers.preview import Preview
    from ...routes import Profile


@dataclass(frozen=True, slots=True)
class _ExportOptions:
    format_name: str | None
    question: str | None
    model: str | None
    curl: bool
    stream: bool
    strict: bool
    pretty: bool
    count_tokens: bool
    as_json: bool
    show_all: bool


@click.command(name="export", cls=Verb, example="toolspan export --format openai --pretty")
@click.option("-f", "--format", "format_name", type=click.Choice(format_names()), help="The wire format.")
@click.option("--request", "question", metavar="QUESTION", help="Export the whole first request instead.")
@click.option(
    "-m", "--model", metavar="PROVIDER/MODEL", help="The model that would answer; it sets the format."
)
@click.option("--curl", "as_curl", is_flag=True, help="The request as a curl command, the key as a variable.")
@click.option("--stream", is_flag=True, help="The request for an answer in pieces.")
@click.option("--strict", is_flag=True, help="As if every tool asked for the provider's strict mode.")
@click.option("--pretty", is_flag=True, help="Indented, for reading: not byte for byte.")
@click.option(
    "--count-tokens", is_flag=True, help="Send the request to the provider's count and print its tokens."
)
@click.option("--json", "as_json", is_flag=True, help="Errors and counts as JSON too; the payload always is.")
@profile_options
@server_option
@config_options
@locked_option
@tool_options
@all_option
def command(
    format_name: str | None,
    question: str | None,
    model: str | None,
    as_curl: bool,
    stream: bool,
    strict: bool,
    pretty: bool,
    count_tokens: bool,
    as_json: bool,
    profile: Profile,
    server: str | None,
    choice: ConfigChoice,
    show_all: bool,
) -> None:
    """Print the tools byte for byte as a request in this format carries them, or the first request itself.

    What the format cannot express is reported on stderr, tool by tool; `toolspan lint` explains it.
    At a terminal many tools or losses are counted: --all shows each.

    Nothing is sent, but with --count-tokens: OpenAI (by Responses), Anthropic, Gemini, Vertex AI and Bedrock
    count the input tokens of the request, with your key. A provider without such a count is an error: exit 2.
    """
    if question is None and (as_curl or stream or count_tokens):
        raise UsageError("--curl, --stream and --count-tokens are of a request: add --request QUESTION")
    if count_tokens and (as_curl or stream or pretty):
        raise UsageError("--count-tokens prints a number: leave --curl, --stream and --pretty out")
    if format_name is None and model is None and question is None:
        raise UsageError("name a format with --format, or a model with --model")
    options = _ExportOptions(
        format_name,
        question,
        model,
        as_curl,
        stream,
        strict,
        pretty,
        count_tokens,
        as_json,
        show_all or as_json,
    )

    async def run() -> None:
        async with opened(choice, TERMINAL, server=server) as session:
            if strict:
                session.toolbox.tools = tools_asking_strict(session.toolbox.tools)
            if question is None:
                await _export_tools(options, session)
            else:
                await _export_request(options, session, profile)

    anyio.run(run)


async def _export_tools(options: _ExportOptions, session: Session) -> None:
    from ...providers.wire.wire_request import encode

    name = options.format_name or _formats_of(options.model or "", session)[0]
    tools = session.tools()
    payload = get_format(name).render_tools(tools, NameTable.of(tools))
    if is_too_long(len(tools), show_all=options.show_all):
        _count_tools(tools, name, len(encode(payload)))
    else:
        emit_json(payload) if options.pretty else emit_bytes(encode(payload))
    _note_losses(get_format(name).losses(tools), options)


async def _export_request(options: _ExportOptions, session: Session, profile: Profile) -> None:
    text = (options.question or "").strip()
    if not text:
        raise UsageError("the question is empty")
    session.note_no_tools()
    way = await way_of(session, text, profile)
    model = await model_of(options.model, way, session)
    name = _format_for(options, model, session)
    request = asked_request(session, text, way, model, name, stream=options.stream)
    if options.count_tokens:
        await _count(options, model, request, session)
    elif is_full(model, session):
        shown = await _preview(model, request, session, name)
        _emit(options, shown.sent.body, shown)
    else:
        from ...providers.wire.wire_request import encode

        _emit(options, encode(get_format(name).render_request(request, NameTable.of(request.tools))), None)
    _note_search(request, session)
    _note_losses(asked_losses(name, request.tools), options)


async def _count(options: _ExportOptions, model: str, request: Request, session: Session) -> None:
    from ...providers.token_counting import count_tokens

    if not is_full(model, session):
        raise UsageError("--count-tokens needs to know the provider: write --model PROVIDER/MODEL")
    wordings = chosen_wordings(session.config, TERMINAL)
    async with ProviderPool(session.config, wordings) as providers:
        provider, name = await providers.get(model)
        with waiting(f"the count of {model}"):
            tokens = await count_tokens(provider, replace(request, model=name))
    emit_json({"model": model, "input_tokens": tokens}) if options.as_json else print_message(str(tokens))


def _emit(options: _ExportOptions, body: bytes, shown: Preview | None) -> None:
    if options.curl and shown is None:
        raise UsageError("--curl needs to know the address: write --model PROVIDER/MODEL")
    if options.curl and shown is not None:
        emit_bytes(curl(shown.sent, shown.variables, stream=options.stream).encode())
    elif options.pretty:
        import json

        emit_json(json.loads(body))
    else:
        emit_bytes(body)


def _format_for(options: _ExportOptions, model: str, session: Session) -> str:
    """The format of the request. Raises ``UsageError`` where the words of the call do not go together."""
    if not is_full(model, session):
        if options.format_name is None:
            raise UsageError(f"{model!r} names no provider: write PROVIDER/MODEL, or add --format")
        return options.format_name
    spoken = _formats_of(model, session)
    if options.format_name is None:
        return spoken[0]
    if options.format_name not in spoken:
        raise UsageError(
            f"the provider of {model} speaks {' and '.join(spoken)}, not {options.format_name}: "
            "leave --format out"
        )
    return options.format_name


def _formats_of(model: str, session: Session) -> tuple[str, ...]:
    from ...providers.preview import formats_of

    return formats_of(model, own_providers(session.config))


async def _preview(model: str, request: Request, session: Session, wire_format: str) -> Preview:
    from ...providers.preview import preview

    own = own_providers(session.config)
    worded = with_choice(model, own, chosen_wordings(session.config, TERMINAL))
    return await preview(worded, request, own, wire_format)


def _note_search(request: Request, session: Session) -> None:
    if any(tool.key == SEARCH.key for tool in request.tools):
        print_note(
            f"the model is given {SEARCH.name}, and what it finds with it is in the requests after that: "
            f"there are {len(session.toolbox.tools)} tools, more than are sent at once "
            "(`toolspan lint` tells what is lost of each)"
        )


def _count_tools(tools: Sequence[ToolSpec], format_name: str, size: int) -> None:
    groups = grouped(((tool.server,), tool.name) for tool in tools)
    rows = [(*each.key, str(each.count), each.such_as) for each in groups]
    emit_table(("server", "tools", "such as"), rows)
    note_how_to_see_all(len(tools), f"tools, {size} bytes in the format {format_name}")


def _note_losses(losses: Iterable[Loss], options: _ExportOptions) -> None:
    found = list(losses)
    if is_too_long(len(found), show_all=options.show_all, file=sys.stderr):
        for each in grouped(((loss.severity, loss.rule), loss.tool) for loss in found):
            print_note(f"{each.key[0]}: {each.key[1]}: {each.count} times, in tools such as {each.such_as}")
        return
    for loss in found:
        print_note(f"{loss.severity}: {loss.tool}{loss.pointer}: {loss.rule}: {loss.repair}")
