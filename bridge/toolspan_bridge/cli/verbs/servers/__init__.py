"""``toolspan servers …``: find and add the MCP servers of a config.

One module a subcommand, with its ``command``.
"""

from __future__ import annotations

import click

from ...module_group import ModuleGroup


@click.group(name="servers", cls=ModuleGroup, package=__name__, example="toolspan servers status")
def command() -> None:
    """Find MCP servers that other clients have, and add them and those of the registry to a config."""
