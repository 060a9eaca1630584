"""``toolspan tools list|show|call``: what the servers offer, and one call of it."""

from __future__ import annotations

import secrets
from typing import Any

import anyio
import click

from ...findings import asked_losses
from ...formats import format_names
from ...formats.names import NameTable
from ...loop import called
from ...messages import ToolSpec
from ..asking.approving import approver_of
from ..asking.session import opened
from ..examples import written_examples
from ..inputs.approvals import ApprovalChoice, approval_options
from ..inputs.arguments import parse_arguments
from ..inputs.options import (
    ConfigChoice,
    config_options,
    json_option,
    server_option,
    workspace_option,
)
from ..terminal.output import (
    compact,
    emit_json,
    emit_table,
    emit_text,
    print_message,
    print_note,
)

EXIT_TOOL_ERROR = 5


@click.group(name="tools", short_help="List, show or call the tools.")
def command() -> None:
    """List the tools of every connected server, show one, call one."""


@command.command(name="list")
@click.option(
    "--names",
    "format_name",
    type=click.Choice(format_names()),
    help="Print the name that each tool has in this wire format instead.",
)
@server_option
@config_options
@workspace_option
@json_option
def list_(
    format_name: str | None,
    server: str | None,
    choice: ConfigChoice,
    as_json: bool,
) -> None:
    """List the tools as the servers list them over MCP.

    With --names the table by which a model's calls find their tools: the name on the wire, the server and the
    tool's own name. A tool that the format leaves out is marked.
    """
    tools = anyio.run(_tools, choice, server)
    if format_name is not None:
        _list_names(tools, format_name, as_json=as_json)
    elif as_json:
        emit_json({"tools": [_described(tool) for tool in tools]})
    else:
        rows = [(tool.name, tool.server, compact(tool.description, 100)) for tool in tools]
        emit_table(("tool", "server", "description"), rows)


@command.command(name="show")
@click.argument("name")
@config_options
@workspace_option
@json_option
def show(name: str, choice: ConfigChoice, as_json: bool) -> None:
    """Show one tool: its description, the JSON Schema of its parameters, and its examples."""
    tool, examples = anyio.run(_tool, name, choice)
    if as_json:
        emit_json({**_described(tool), "examples": examples} if examples else _described(tool))
        return
    print_message(f"{tool.name} (server {tool.server})\n{tool.description}\n")
    emit_json(dict(tool.schema))
    for number, example in enumerate(examples, 1):
        print_message(f"\nExample {number}:")
        emit_json(example)


@command.command(name="call")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]…")
@click.option(
    "--arguments", "document", metavar="JSON", help="All arguments as one JSON object; - reads stdin."
)
@approval_options
@config_options
@workspace_option
@json_option
def call(
    name: str,
    arguments: tuple[str, ...],
    document: str | None,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Call one tool. KEY=VALUE is read by the parameter's type: text as it is, anything else as JSON.

    A tool that needs approval is asked about as in `ask`: to name it here is no approval of what it does.
    Exit 5 when the tool does not succeed.
    """
    result = anyio.run(_call, name, arguments, document, approvals, choice)
    if as_json:
        emit_json(result)
    elif result["success"]:
        value = result["result"]
        emit_text(value) if isinstance(value, str) else emit_json(value)
    else:
        print_note(f"{result['error']} ({result['user_action']})")
    return 0 if result["success"] else EXIT_TOOL_ERROR


def _list_names(tools: tuple[ToolSpec, ...], format_name: str, *, as_json: bool) -> None:
    left_out = {loss.tool: loss.rule for loss in asked_losses(format_name, tools) if loss.leaves_out}
    names = NameTable.of(tools).as_dict()
    if as_json:
        entries = [
            {"wire": name, "server": server, "tool": tool, "left_out": left_out.get(name)}
            for name, (server, tool) in names.items()
        ]
        emit_json({"format": format_name, "names": entries})
        return
    rows = [
        (name, server, tool, f"left out: {left_out[name]}" if name in left_out else "")
        for name, (server, tool) in names.items()
    ]
    emit_table(("name on the wire", "server", "tool", ""), rows)


async def _tools(choice: ConfigChoice, server: str | None) -> tuple[ToolSpec, ...]:
    async with opened(choice, server=server) as session:
        return session.toolbox.tools


async def _tool(name: str, choice: ConfigChoice) -> tuple[ToolSpec, list[dict[str, Any]]]:
    """The tool, and its examples when the config itself defines it."""
    async with opened(choice) as session:
        tool = session.tool(name)
        own = tool.server not in session.config.mcp_servers
        found = (each for each in session.config.tools.registry if own and each.name == tool.name)
        return tool, [example for each in found for example in written_examples(each)]


async def _call(
    name: str,
    pairs: tuple[str, ...],
    document: str | None,
    approvals: ApprovalChoice,
    choice: ConfigChoice,
) -> dict[str, Any]:
    async with opened(choice) as session:
        tool = session.tool(name)
        arguments = parse_arguments(pairs, document, tool.schema)
        approver = approver_of(session, approvals, secrets.token_hex(16))
        outcome = await called(session.toolbox, tool, arguments, approver)
        return dict(outcome.result)


def _described(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "server": tool.server,
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
