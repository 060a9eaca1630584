"""``toolspan serve``: the server's own entry point."""

from __future__ import annotations

import click


@click.command(
    name="serve",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Serve a config's tools over MCP.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Serve a config's tools over MCP, on stdio or HTTP. Its options are ``toolspan-server``'s."""
    from toolspan_server.cli.main import main

    return main(list(arguments), prog="toolspan serve")
