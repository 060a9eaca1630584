"""``toolspan lock``: write down the tools' definitions, or compare them."""

from __future__ import annotations

from pathlib import Path

import anyio
import click

from ...errors import UnreachableError, UsageError
from ...sessions.chosen.config import ConfigChoice
from ...sessions.locking import listed_definitions, lock_path
from ...sessions.session import opened
from ...trust import Definitions, Drift, drifts, read_lock, write_lock
from ..host import TERMINAL
from ..inputs.options import config_options, json_option, workspace_option
from ..module_group import Verb
from ..terminal.diffs import coloured
from ..terminal.output import emit_json, print_coloured, print_message, print_note

EXIT_DRIFT = 7


@click.command(name="lock", cls=Verb, example="toolspan lock --check")
@click.option("--check", is_flag=True, help="Only compare: exit 7 when a definition is not the locked one.")
@config_options
@workspace_option
@json_option
def command(check: bool, choice: ConfigChoice, as_json: bool) -> int:
    """Write the definitions of every server's tools to toolspan.lock, beside the config: name, description,
    schema and annotations. What differs from the file that is there is shown.

    With the file, a tool whose definition is another is shown and asked about before it is called; with
    --locked, it is not used. Look at a difference before you accept it: a description is read by models.
    """
    path, before, listed = anyio.run(_definitions, choice, check)
    found = [] if before is None else list(drifts(before, listed))
    if not check:
        write_lock(path, listed)
    if as_json:
        data = {"path": str(path), "drift": [drift.as_dict() for drift in found]}
        emit_json({"ok": before is not None and not found, **data} if check else data)
    else:
        _show(found)
        print_message(_summary(path, before, listed, found, check=check))
    return EXIT_DRIFT if check and (found or before is None) else 0


async def _definitions(choice: ConfigChoice, check: bool) -> tuple[Path, Definitions | None, Definitions]:
    async with opened(choice, TERMINAL, locks=False) as session:
        path = lock_path(session.config)
        if failures := session.toolbox.failures:
            names = ", ".join(repr(failure.server) for failure in failures)
            raise UnreachableError(f"the tools of {names} are not known, so {path} stays as it is")
        session.tools()
        return path, _read(path, check=check), listed_definitions(session.toolbox)


def _read(path: Path, *, check: bool) -> Definitions | None:
    """What the file holds; what cannot be read is nothing where it is written anew."""
    try:
        return read_lock(path)
    except UsageError as error:
        if check:
            raise
        print_note(f"{error}: it is written anew")
        return None


def _show(found: list[Drift]) -> None:
    for drift in found:
        print_note(f"{drift}:")
        print_coloured(coloured(drift.diff))


def _summary(
    path: Path, before: Definitions | None, listed: Definitions, found: list[Drift], *, check: bool
) -> str:
    tools = sum(map(len, listed.values()))
    counted = f"{_counted(tools, 'tool')} of {_counted(len(listed), 'server')}"
    if not check:
        return f"{path}: {counted} locked"
    if before is None:
        return f"{path}: there is no such file: {counted} not locked (toolspan lock writes it)"
    if found:
        return f"{path}: {len(found)} of the tools differ (toolspan lock accepts them as they are now)"
    return f"{path}: {counted} as they were locked"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
