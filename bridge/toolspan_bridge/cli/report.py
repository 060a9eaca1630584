"""``toolspan report``: what the validation store holds."""

from __future__ import annotations

from typing import Any

import click

from ..validation import STORE_FILE, Store, build_records
from ._options import config_options, json_option, read_config
from ._output import emit_json, note


@click.command(name="report", short_help="Show which models are validated.")
@click.option("-m", "--model", metavar="PROVIDER/MODEL", help="Only this model.")
@config_options
@json_option
def command(model: str | None, config_paths: tuple[str, ...], skip_invalid: bool, as_json: bool) -> None:
    """Show which models are validated, from all the trials that `validate` has recorded beside the config."""
    config = read_config(config_paths, skip_invalid=skip_invalid, needed=False)
    path = config.state_directory / STORE_FILE
    records: list[dict[str, Any]] = []
    if path.exists():
        with Store.open(path, redact=config.redact) as store:
            records = build_records(store.trials(model))
            for notice in store.notices:
                note(notice)
    if as_json:
        emit_json(records)
    elif records:
        _print(records)
    else:
        note(f"no trials are recorded in {path} (run `toolspan validate`)")


def _print(records: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("model", "validated", "successes", "last tested", box=None, pad_edge=False)
    for record in records:
        successes = f"{record['success_count']}/{record['test_count']}"
        badge = "✓ validated" if record["validated"] else "✗ not validated"
        table.add_row(Text(record["model_id"]), badge, successes, record["last_tested"])
    Console().print(table)
