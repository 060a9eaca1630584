"""``toolspan check``: is the config right?"""

from __future__ import annotations

from dataclasses import asdict

import click

from ._options import config_options, json_option, read_config
from ._output import emit_json, note


@click.command(name="check", short_help="Check a config file.")
@config_options
@json_option
def command(config_paths: tuple[str, ...], skip_invalid: bool, as_json: bool) -> None:
    """Check a config file: every error at once, with its place and what to do. Exit 2 when there is one."""
    config = read_config(config_paths, skip_invalid=skip_invalid)
    tools = [
        {"name": tool.name, "kind": tool.implementation.type, "description": tool.description}
        for tool in config.tools.registry
    ]
    if as_json:
        emit_json(
            {
                "ok": True,
                "files": [str(path) for path in config.files],
                "tools": tools,
                "mcp_servers": sorted(config.mcp_servers),
                "skipped": [asdict(problem) for problem in config.skipped],
            }
        )
        return
    for path in config.files:
        click.echo(f"{path}: ok")
    named = ", ".join(f"{tool['name']} ({tool['kind']})" for tool in tools)
    click.echo(f"{len(tools)} tools: {named}" if tools else "no tools")
    if config.mcp_servers:
        click.echo(f"{len(config.mcp_servers)} MCP servers: " + ", ".join(sorted(config.mcp_servers)))
    if not config.tools.enabled:
        note("tools.enabled is false: none of these tools is served")
