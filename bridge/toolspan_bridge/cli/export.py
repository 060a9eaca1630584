"""``toolspan export``: the exact tool payload of a provider's wire format."""

from __future__ import annotations

import anyio
import click

from ..formats import format_names, get_format
from ..formats.names import NameTable
from ..messages import ToolSpec
from ._options import config_options
from ._output import emit_json, note
from ._session import opened


@click.command(name="export", short_help="Print the tools in a provider's format.")
@click.option(
    "-f",
    "--format",
    "format_name",
    required=True,
    type=click.Choice(format_names()),
    help="The wire format.",
)
@click.option("--json", "as_json", is_flag=True, help="Errors as JSON too; the payload always is.")
@config_options
def command(format_name: str, as_json: bool, config_paths: tuple[str, ...], skip_invalid: bool) -> None:
    """Print the tools exactly as a request in this format carries them.

    What the format cannot express is said on stderr, tool by tool.
    """
    tools = anyio.run(_tools, config_paths, skip_invalid)
    wire = get_format(format_name)
    emit_json(wire.render_tools(tools, NameTable.of(tools)))
    for loss in wire.losses(tools):
        note(f"{loss.tool}{loss.pointer}: {loss.rule}: {loss.repair}")


async def _tools(paths: tuple[str, ...], skip_invalid: bool) -> tuple[ToolSpec, ...]:
    async with opened(paths, skip_invalid=skip_invalid) as session:
        return session.toolbox.tools
