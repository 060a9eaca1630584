"""``toolspan mocks from-run``: mocks of a config, made of recorded results."""

from __future__ import annotations

from pathlib import Path

import click

from ...errors import StoreError, UsageError
from ..inputs import completed
from ..module_group import SubcommandGroup
from ..terminal.output import emit_text, print_message, print_note

_SHOWN = 20


@click.group(name="mocks", cls=SubcommandGroup, example="toolspan mocks from-run run.jsonl")
def command() -> None:
    """Make mocks of what real tools gave."""


@command.command(name="from-run", example="toolspan mocks from-run run.jsonl -o mocks.yaml")
@click.argument("recording", type=click.Path(path_type=Path), shell_complete=completed.files)
@click.option(
    "-c",
    "--config",
    "config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    shell_complete=completed.files,
    help="A config whose tools get the mocks; their definitions and all else stay as they are. Default: a "
    "new config with the definitions of the recording.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The config to write; must not be there yet. Default: stdout.",
)
def from_run(recording: Path, config: Path | None, output: Path | None) -> None:
    """Turn recorded results into mocks of a config.

    RECORDING is a file that `toolspan validate --record` wrote. A mock gives to the arguments of each
    recorded call the recorded result or error; of several for the same arguments, one after another. Other
    arguments are an error that names the nearest recorded ones. What could not be turned is listed on stderr.
    Comments of the --config are not kept.
    """
    from ...validation.recording import Recorded
    from ...validation.recording.mocks import mocks_of
    from ..recorded_mocks import mocks_config

    if output is not None and output.exists():
        raise UsageError(f"{output} is there already: choose another --output")
    mocks = mocks_of(Recorded.read(recording))
    text, notes = mocks_config(mocks, config)
    left = (*mocks.left, *notes)
    for note in left[:_SHOWN]:
        print_note(f"not turned into a mock: {note}")
    if (more := len(left) - _SHOWN) > 0:
        print_note(f"not turned into a mock: {more:,} more")
    if output is None:
        emit_text(text)
        return
    _write(output, text)
    count = sum(mocks.calls.values())
    print_message(f"{output}: {len(mocks.tools):,} mocks of {count:,} recorded calls")


def _write(output: Path, text: str) -> None:
    from ...files.replacement import replace_file, why_not_written

    try:
        replace_file(output.absolute(), text.encode())
    except OSError as fault:
        raise StoreError(f"{output} {why_not_written(fault)}") from None
