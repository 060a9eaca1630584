"""``toolspan trust list|forget``: show or take back what folders may run."""

from __future__ import annotations

from pathlib import Path

import click

from ...errors import UsageError
from ...sessions.chosen.config import trusted_folders
from ..inputs.options import json_option
from ..module_group import SubcommandGroup
from ..terminal.output import emit_json, print_message


@click.group(name="trust", cls=SubcommandGroup, example="toolspan trust list")
def command() -> None:
    """Show or take back what you allowed folders to run.

    What a config or an .mcp.json that was found in a folder would run is asked about at a terminal, and the
    answer is remembered for it as it is: any change asks again.
    """


@command.command(name="list", example="toolspan trust list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the folders, and what each may run and send."""
    folders = trusted_folders().all()
    if as_json:
        emit_json({"folders": [each.as_dict() for each in folders]})
        return
    for each in folders:
        print_message(f"{each.folder}  ({each.at})")
        for item in each.items:
            print_message(f"    {item.get('what')}  ({item.get('file')}: {item.get('place')})")
    if not folders:
        print_message("no folder is trusted")


@command.command(name="forget", example="toolspan trust forget .")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--all", "every", is_flag=True, help="Forget all folders.")
@json_option
def forget(folder: Path | None, every: bool, as_json: bool) -> None:
    """Take back what FOLDER may run and send.

    FOLDER is this one where none is named. What it brings is asked about again.
    """
    if every and folder is not None:
        raise UsageError("name a folder, or --all of them")
    chosen = None if every else folder or Path.cwd()
    count = trusted_folders().forget(chosen)
    if as_json:
        emit_json({"forgotten": count})
    elif chosen is not None:
        print_message(f"{chosen}: {'forgotten' if count else 'was not trusted'}")
    else:
        print_message(f"{count} folders forgotten" if count != 1 else "1 folder forgotten")
