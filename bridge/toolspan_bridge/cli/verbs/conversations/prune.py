"""``toolspan conversations prune``: remove the old conversations now."""

from __future__ import annotations

import time
from dataclasses import replace

import click

from ....conversation.prune import prune
from ....sessions.chosen.config import ConfigChoice
from ....sessions.kept.stored import STORED, kept_by, store_of
from ...host import TERMINAL
from ...inputs.options import config_options, json_option, read_config
from ...module_group import Verb
from ...terminal.output import emit_json, print_note
from .list import entry_data


@click.command(name="prune", cls=Verb, example="toolspan conversations prune --keep-days 30 --dry-run")
@click.option(
    "--keep-days",
    type=click.IntRange(0),
    metavar="DAYS",
    help="Remove what was last gone on with longer ago. Default: conversations.keep_days, 90.",
)
@click.option(
    "--keep-bytes",
    type=click.IntRange(0),
    metavar="BYTES",
    help="Keep the latest of so many bytes together. Default: conversations.keep_bytes, 1 GiB.",
)
@click.option("--dry-run", is_flag=True, help="Only tell what would be removed.")
@config_options
@json_option
def command(
    keep_days: int | None, keep_bytes: int | None, dry_run: bool, choice: ConfigChoice, as_json: bool
) -> None:
    """Remove the conversations that are too old or too many, as ask and chat do when they end."""
    config = read_config(choice, needed=False, keys=STORED)
    kept = kept_by(config)
    kept = kept if keep_days is None else replace(kept, days=keep_days)
    kept = kept if keep_bytes is None else replace(kept, total_bytes=keep_bytes)
    removed = prune(store_of(config, choice, TERMINAL), kept, time.time(), dry_run=dry_run)
    if as_json:
        emit_json({"removed": [entry_data(entry) for entry in removed], "dry_run": dry_run})
        return
    for entry in removed:
        print_note(f"{'would remove' if dry_run else 'removed'} {entry.head.id[:12]}: {entry.head.title}")
    if not removed:
        print_note("there is nothing to remove")
