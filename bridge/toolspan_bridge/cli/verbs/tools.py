"""``toolspan tools list|show|call``: list, show or call the tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import click

from ...formats import format_names
from ...sessions.chosen.approvals import ApprovalChoice
from ...sessions.chosen.config import ConfigChoice
from ...sessions.session import opened
from ..host import TERMINAL
from ..inputs import completed
from ..inputs.approvals import approval_options
from ..inputs.arguments import parse_arguments
from ..inputs.options import (
    config_options,
    debug_option,
    json_option,
    locked_option,
    log_level_option,
    server_option,
    tool_options,
    workspace_option,
)
from ..long_lists import all_option, grouped, is_too_long, note_how_to_see_all
from ..module_group import SubcommandGroup
from ..terminal.errors import point_to_entry
from ..terminal.output import (
    compact,
    emit_json,
    emit_table,
    emit_text,
    print_message,
    print_note,
    print_text,
)

if TYPE_CHECKING:
    from ...client import LogLevel
    from ...messages import ToolSpec

EXIT_TOOL_ERROR = 5
_TABLES = ("rich.console", "rich.table")


@click.group(name="tools", cls=SubcommandGroup, example="toolspan tools call math_eval 'expression=6 * 7'")
def command() -> None:
    """List the tools of every connected server, show one, call one."""


@command.command(name="list", example="toolspan tools list -c toolspan.yaml")
@click.option(
    "--names",
    "format_name",
    type=click.Choice(format_names()),
    help="Print the name that each tool has in this wire format instead.",
)
@server_option
@config_options
@locked_option
@debug_option
@workspace_option
@tool_options
@all_option
@json_option
def list_(
    format_name: str | None,
    server: str | None,
    show_all: bool,
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """List the tools as the servers list them over MCP.

    The effect of a call is what the tool says of itself: reads, changes, may destroy; many say nothing.

    With --names the table by which a model's calls find their tools: the name on the wire, the server and the
    tool's own name. A tool that the format leaves out is marked.

    At a terminal a long list is counted by server: --all shows each tool, --tool GLOB some.
    """
    tools, hints = anyio.run(_tools, choice, server, () if as_json else _TABLES)
    if format_name is not None:
        _list_names(tools, format_name, as_json=as_json, show_all=show_all)
    elif as_json:
        emit_json({"tools": [_described(tool, hints[tool.key]) for tool in tools]})
    elif is_too_long(len(tools), show_all=show_all):
        _count_by_server((tool.server, tool.name) for tool in tools)
    else:
        effects = {key: _effect(hint) for key, hint in hints.items()}
        heads = ("effect",) if any(effects.values()) else ()
        rows = [
            (tool.name, tool.server, *(effects[tool.key] for _ in heads), compact(tool.description, 100))
            for tool in tools
        ]
        emit_table(("tool", "server", *heads, "description"), rows)


@command.command(name="show", example="toolspan tools show math_eval")
@click.argument("name", shell_complete=completed.tools)
@config_options
@locked_option
@debug_option
@workspace_option
@json_option
def show(name: str, choice: ConfigChoice, as_json: bool) -> None:
    """Show one tool.

    That is its description, the JSON Schema of its parameters, and its examples.
    """
    tool, hints, examples = anyio.run(_tool, name, choice)
    if as_json:
        described = _described(tool, hints)
        emit_json({**described, "examples": examples} if examples else described)
        return
    effect = _effect(hints)
    print_text(f"{tool.name} (server {tool.server}{effect and f', {effect}'})\n{tool.description}\n")
    emit_json(dict(tool.schema))
    for number, example in enumerate(examples, 1):
        print_message(f"\nExample {number}:")
        emit_json(example)


@command.command(name="call", example="toolspan tools call math_eval 'expression=6 * 7'")
@click.argument("name", shell_complete=completed.tools)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]…")
@click.option(
    "--arguments", "document", metavar="JSON", help="All arguments as one JSON object; - reads stdin."
)
@click.option(
    "-m",
    "--model",
    metavar="PROVIDER/MODEL",
    shell_complete=completed.models,
    help="Who answers the tool's server. Default: $TOOLSPAN_MODEL.",
)
@log_level_option
@approval_options
@config_options
@locked_option
@debug_option
@workspace_option
@json_option
def call(
    name: str,
    arguments: tuple[str, ...],
    document: str | None,
    model: str | None,
    log_level: LogLevel | None,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Call one tool. KEY=VALUE is read by the parameter's type: text as it is, anything else as JSON.

    A tool that needs approval is asked about as in `ask`: to name it here is no approval of what it does.
    Only one that changes something without saying that it may destroy needs none here.
    Hooks of calls run as in `ask`.
    What its server says and asks meanwhile is shown and answered as in `ask`; with a model, it may have that
    asked. Exit 5 when the tool does not succeed.
    """
    chosen = _Called(name, arguments, document, model or os.environ.get("TOOLSPAN_MODEL") or "", log_level)
    result = anyio.run(_call, chosen, approvals, choice)
    if as_json:
        emit_json(result)
    elif result["success"]:
        value = result["result"]
        emit_text(value) if isinstance(value, str) else emit_json(value)
    else:
        print_note(f"{result['error']} ({result['user_action']})")
        _point_to_entry(result["error_code"])
    return 0 if result["success"] else EXIT_TOOL_ERROR


def _point_to_entry(code: str) -> None:
    """Other servers and mocks have codes that no entry explains."""
    from ..explained import entries

    if any(each.code == code for each in entries()):
        point_to_entry(code)


def _list_names(tools: tuple[ToolSpec, ...], format_name: str, *, as_json: bool, show_all: bool) -> None:
    from ...findings import asked_losses
    from ...formats.names import NameTable

    left_out = {loss.tool: loss.rule for loss in asked_losses(format_name, tools) if loss.leaves_out}
    names = NameTable.of(tools).as_dict()
    if as_json:
        entries = [
            {"wire": name, "server": server, "tool": tool, "left_out": left_out.get(name)}
            for name, (server, tool) in names.items()
        ]
        emit_json({"format": format_name, "names": entries})
        return
    if is_too_long(len(names), show_all=show_all):
        _count_by_server((server, name) for name, (server, _) in names.items())
        if left_out:
            print_note(f"{len(left_out)} of them are left out by the format {format_name}")
        return
    rows = [
        (name, server, tool, f"left out: {left_out[name]}" if name in left_out else "")
        for name, (server, tool) in names.items()
    ]
    emit_table(("name on the wire", "server", "tool", ""), rows)


def _count_by_server(named: Iterable[tuple[str, str]]) -> None:
    groups = grouped(((server,), name) for server, name in named)
    emit_table(
        ("server", "tools", "such as"), [(*each.key, str(each.count), each.such_as) for each in groups]
    )
    note_how_to_see_all(sum(each.count for each in groups), "tools")


async def _tools(
    choice: ConfigChoice, server: str | None, meanwhile: Sequence[str]
) -> tuple[tuple[ToolSpec, ...], dict[tuple[str, str], Mapping[str, Any]]]:
    """The tools, and the hints of each by its key."""
    async with opened(choice, TERMINAL, server=server, meanwhile=meanwhile) as session:
        tools = session.tools()
        return tools, {tool.key: session.toolbox.definition(tool).annotations for tool in tools}


async def _tool(name: str, choice: ConfigChoice) -> tuple[ToolSpec, Mapping[str, Any], list[dict[str, Any]]]:
    """The tool, its hints, and its examples when the config itself defines it."""
    from ..examples import written_examples

    async with opened(choice, TERMINAL) as session:
        tool = session.tool(name)
        own = tool.server not in session.config.mcp_servers
        found = (each for each in session.config.tools.registry if own and each.name == tool.name)
        hints = session.toolbox.definition(tool).annotations
        return tool, hints, [example for each in found for example in written_examples(each)]


@dataclass(frozen=True, slots=True)
class _Called:
    """What ``tools call`` is to call, and the model that the tool's server may have asked."""

    name: str
    pairs: tuple[str, ...]
    document: str | None
    model: str
    log_level: LogLevel | None


async def _call(wanted: _Called, approvals: ApprovalChoice, choice: ConfigChoice) -> dict[str, Any]:
    import secrets

    from ...conversation import Conversation
    from ...loop import called
    from ...loop.limits import spending_within
    from ...sessions.approving import approver_of
    from ...sessions.asker import RoutedAsker
    from ...sessions.chosen.approvals import LOCAL_PRINCIPAL
    from ..asking.options import AskOptions
    from ..terminal.talk import Printer
    from ..terminal.waiting.of_events import followed
    from ..terminal.waiting.retries import show_retries

    async with opened(choice, TERMINAL, samples=bool(wanted.model), log_level=wanted.log_level) as session:
        tool = session.tool(wanted.name)
        arguments = parse_arguments(wanted.pairs, wanted.document, tool.schema)
        approver = approver_of(session, approvals, secrets.token_hex(16), LOCAL_PRINCIPAL, typed=True)
        printer = Printer(sys.stderr, only_meanwhile=True)
        async with RoutedAsker(session) as asker:
            if wanted.model:
                question, provider = await asker.routed("", AskOptions(model=wanted.model))
                spending = spending_within(question.limits, question.conversation_limits, Conversation())
                pricing = asker.meter(question, provider).pricing
                paid = spending.charged(provider, pricing, question.model)
                find = spending.charging(asker.find, session.config.providers)
                session.client.use(question, paid, approver, find)
            show_retries()
            with followed(printer.show) as show:
                outcome = await called(session.toolbox, tool, arguments, approver, show, asker.hooks)
        return dict(outcome.result)


def _described(tool: ToolSpec, hints: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "server": tool.server,
        "description": tool.description,
        "parameters": dict(tool.schema),
        "annotations": dict(hints),
    }


def _effect(hints: Mapping[str, Any]) -> str:
    """What a call does, in a word, as the tool's hints say it; empty where they do not."""
    if hints.get("readOnlyHint") is True:
        return "reads"
    if hints.get("destructiveHint") is True:
        return "may destroy"
    return "changes" if hints.get("readOnlyHint") is False else ""
