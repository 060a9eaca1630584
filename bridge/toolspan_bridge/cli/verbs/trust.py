"""``toolspan trust list|forget|state``: what folders may run, and whose their state is."""

from __future__ import annotations

from pathlib import Path

import click

from ...errors import UsageError
from ...sessions.chosen.config import trusted_folders
from ..inputs.options import json_option
from ..module_group import SubcommandGroup
from ..terminal.output import emit_json, print_message

_SHOWN = 5


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


@command.command(name="state", example="toolspan trust state .toolspan")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@json_option
def state(folder: Path | None, as_json: bool) -> None:
    """Take over a state folder that this user did not make here.

    FOLDER is .toolspan in this folder where none is named. A state folder that came with a repository, an
    archive or a backup, or that an earlier version made, is not used: what is in it would be read as yours.
    This marks it as yours on this machine. Look at what is in it first. One that holds links, pipes or hard
    links is refused.
    """
    from toolspan_server.common.state.folder import STATE_FOLDER, contents, take_over, why_not_ours

    place = (folder or Path(STATE_FOLDER)).absolute()
    try:
        if place.is_symlink() or not place.is_dir():
            raise UsageError(f"{place} is not a folder: there is nothing to take over")
        place = place.resolve()
        found = contents(place)
        if found.others:
            shown = ", ".join(found.others[:_SHOWN]) + (" …" if len(found.others) > _SHOWN else "")
            raise UsageError(f"{place} holds links, pipes or hard links: remove them first ({shown})")
        if was_not := bool(why_not_ours(place)):
            take_over(place)
        if why := why_not_ours(place):
            raise UsageError(f"{place} cannot be taken over: {why}")
    except OSError as fault:
        raise UsageError(f"{place} cannot be taken over: {fault.strerror}") from None
    if as_json:
        emit_json({"folder": str(place), "taken_over": was_not, "files": found.files})
    elif was_not:
        count = f"{found.files:,} file{'' if found.files == 1 else 's'}"
        print_message(f"{place} is used from now on, with the {count} in it")
    else:
        print_message(f"{place} is yours already")
