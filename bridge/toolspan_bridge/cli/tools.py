"""``toolspan tools list|show|call``: what the servers offer, and one call of it."""

from __future__ import annotations

from typing import Any

import anyio
import click

from ..messages import ToolSpec
from ._arguments import parse_arguments
from ._examples import written_examples
from ._options import config_options, json_option
from ._output import compact, emit_json
from ._session import Session, opened

EXIT_TOOL_ERROR = 5


@click.group(name="tools", short_help="List, show or call the tools.")
def command() -> None:
    """List the tools of every connected server, show one, call one."""


@command.command(name="list")
@config_options
@json_option
def list_(config_paths: tuple[str, ...], skip_invalid: bool, as_json: bool) -> None:
    """List the tools as the servers tell them over MCP."""
    tools = anyio.run(_tools, config_paths, skip_invalid)
    if as_json:
        emit_json({"tools": [_described(tool) for tool in tools]})
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("tool", "server", "description", box=None, pad_edge=False)
    for tool in tools:
        table.add_row(Text(tool.name), Text(tool.server), Text(compact(tool.description, 100)))
    Console().print(table)


@command.command(name="show")
@click.argument("name")
@config_options
@json_option
def show(name: str, config_paths: tuple[str, ...], skip_invalid: bool, as_json: bool) -> None:
    """Show one tool: its description, the JSON Schema of its parameters, and its examples."""
    tool, examples = anyio.run(_tool, name, config_paths, skip_invalid)
    if as_json:
        emit_json({**_described(tool), "examples": examples} if examples else _described(tool))
        return
    click.echo(f"{tool.name} (server {tool.server})\n{tool.description}\n")
    emit_json(dict(tool.schema))
    for number, example in enumerate(examples, 1):
        click.echo(f"\nExample {number}:")
        emit_json(example)


@command.command(name="call")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]…")
@click.option(
    "--arguments", "document", metavar="JSON", help="All arguments as one JSON object; - reads stdin."
)
@config_options
@json_option
def call(
    name: str,
    arguments: tuple[str, ...],
    document: str | None,
    config_paths: tuple[str, ...],
    skip_invalid: bool,
    as_json: bool,
) -> int:
    """Call one tool. KEY=VALUE is read by the parameter's type: text as it is, anything else as JSON.

    Exit 5 when the tool does not succeed.
    """
    result = anyio.run(_call, name, arguments, document, config_paths, skip_invalid)
    if as_json:
        emit_json(result)
    elif result["success"]:
        value = result["result"]
        click.echo(value) if isinstance(value, str) else emit_json(value)
    else:
        click.echo(f"toolspan: {result['error']} ({result['user_action']})", err=True)
    return 0 if result["success"] else EXIT_TOOL_ERROR


async def _tools(paths: tuple[str, ...], skip_invalid: bool) -> tuple[ToolSpec, ...]:
    async with opened(paths, skip_invalid=skip_invalid) as session:
        return session.toolbox.tools


async def _tool(
    name: str, paths: tuple[str, ...], skip_invalid: bool
) -> tuple[ToolSpec, list[dict[str, Any]]]:
    """The tool, and its examples when the config itself defines it."""
    async with opened(paths, skip_invalid=skip_invalid) as session:
        tool = session.tool(name)
        own = tool.server not in session.config.mcp_servers
        found = (each for each in session.config.tools.registry if own and each.name == tool.name)
        return tool, [example for each in found for example in written_examples(each)]


async def _call(
    name: str, pairs: tuple[str, ...], document: str | None, paths: tuple[str, ...], skip_invalid: bool
) -> dict[str, Any]:
    async with opened(paths, skip_invalid=skip_invalid) as session:
        return await _called(session, name, pairs, document)


async def _called(
    session: Session, name: str, pairs: tuple[str, ...], document: str | None
) -> dict[str, Any]:
    tool = session.tool(name)
    arguments = parse_arguments(pairs, document, tool.schema)
    outcome = await session.toolbox.call(tool, arguments, call_id="cli")
    return dict(outcome.result)


def _described(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "server": tool.server,
        "description": tool.description,
        "parameters": dict(tool.schema),
    }
