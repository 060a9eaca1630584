"""``toolspan doctor``: check that everything works here, and say what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import click

from ...errors import UsageError
from ...sessions.chosen.config import ConfigChoice
from ..inputs.options import config_options, json_option
from ..module_group import Verb
from ..terminal.output import emit_json, print_note, print_text

if TYPE_CHECKING:
    from ..doctor.finding import Finding
    from ..doctor.surroundings import Surroundings

_MARKS = {"ok": "✓", "warning": "!", "problem": "✗"}


@click.command(
    name="doctor",
    cls=Verb,
    example="toolspan doctor --bundle report.zip",
)
@config_options
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write a zip archive for a report of a fault: this report, versions and the config, without "
    "secrets.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A log to put into the bundle, without secrets; may repeat.",
)
@click.option("--conversations", is_flag=True, help="Put saved conversations into the bundle too.")
@json_option
def command(
    choice: ConfigChoice, bundle: Path | None, logs: tuple[Path, ...], conversations: bool, as_json: bool
) -> int:
    """Check versions, config, servers, keys, models, ports, sandbox and state folders, and say what to do.

    Nothing is run or sent that nobody allowed; no secret is shown. The exit code is that of the first
    problem: 2 config, 3 a key or sign-in, 4 unreachable, 1 anything else; warnings change nothing.
    """
    if bundle is None and (logs or conversations):
        raise UsageError("--log and --conversations go with --bundle")
    from ..doctor.surroundings import Surroundings

    around = Surroundings.of(choice)
    found = anyio.run(_found, around, as_json)
    problems = [each for findings in found.values() for each in findings if each.level == "problem"]
    if as_json:
        checks = {name: [each.as_dict() for each in findings] for name, findings in found.items()}
        emit_json({"ok": not problems, "checks": checks})
    if bundle is not None:
        from ..doctor.bundle import write_bundle

        write_bundle(bundle, around, found, logs, conversations=conversations)
        print_note(
            f"{bundle} was written, without the secrets that could be told: look at it before you send it"
        )
    return problems[0].exit_code if problems else 0


async def _found(around: Surroundings, quiet: bool) -> dict[str, list[Finding]]:
    from ..doctor.run import findings

    found: dict[str, list[Finding]] = {}
    async for name, some in findings(around):
        found[name] = some
        if not quiet:
            _show(name, some)
    return found


def _show(name: str, findings: list[Finding]) -> None:
    for each in findings:
        print_text(f"{_MARKS[each.level]} {name.replace('_', ' ')}: {each.text}")
        if each.todo:
            print_text(f"  → {each.todo}")
