"""``toolspan report``: show which models are validated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ...errors import UsageError
from ...providers.prices import usd_text
from ...validation import (
    STORE_FILE,
    Store,
    WordingChoice,
    build_records,
    read_choices,
)
from ..inputs.options import (
    ConfigChoice,
    config_options,
    json_option,
    read_config,
)
from ..module_group import Verb
from ..terminal.output import emit_json, emit_table, emit_text, print_note


@click.command(name="report", cls=Verb, example="toolspan report --json")
@click.option("-m", "--model", metavar="PROVIDER/MODEL", help="Only this model.")
@config_options
@json_option
def command(model: str | None, choice: ConfigChoice, as_json: bool) -> None:
    """Show which models are validated, from all the trials that `validate` has recorded beside the config.

    Exit 2 when none are.
    """
    config = read_config(choice, needed=False)
    path = config.state_directory / STORE_FILE
    records: list[dict[str, Any]] = []
    choices: dict[str, WordingChoice] = {}
    if path.exists():
        with Store.open(path, redact=config.redact) as store:
            records = build_records(store.trials(model))
            for notice in store.notices:
                print_note(notice)
        choices = read_choices(path)
    if not records:
        of = f" of {model}" if model else ""
        raise UsageError(f"no trials{of} are recorded in {path} (`toolspan validate` records some)")
    if as_json:
        emit_json([_with_choice(record, choices) for record in records])
    else:
        _print(records)
        for record in records:
            if choice_made := choices.get(record["model_id"]):
                emit_text(choice_made.text)


def _with_choice(record: dict[str, Any], choices: Mapping[str, WordingChoice]) -> dict[str, Any]:
    """``record``, with the wording that was chosen for its model where one was."""
    made = choices.get(record["model_id"])
    return {**record, "wording": made.as_dict()} if made else record


def _print(records: list[dict[str, Any]]) -> None:
    rows = [
        (
            str(record["model_id"]),
            "✓ validated" if record["validated"] else "✗ not validated",
            f"{record['success_count']}/{record['test_count']}",
            str(record["rescued"]),
            usd_text(record["cost"]["usd"]),
            str(record["last_tested"]),
        )
        for record in records
    ]
    emit_table(("model", "validated", "successes", "rescued", "cost", "last tested"), rows)
