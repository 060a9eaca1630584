"""``toolspan report``: what validation has found, for people, programs and CI."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from toolspan_server.config import Config
from toolspan_server.schema.values import instant

from ...errors import UsageError
from ...files.replacement import write_pieces
from ...sessions.chosen.config import ConfigChoice
from ...validation import (
    BadgeRule,
    Record,
    Store,
    WordingChoice,
    present_of,
    read_choices,
)
from ...validation.badges import changes_text
from ...validation.records import record_data
from ...validation.reports import FORMS, FORMS_OF_COUNTS, Contents, baseline_of, contents_of
from ...validation.reports.streamed import StreamedList, json_pieces
from ...validation.reports.table import lines
from ...validation.storage.places import place_of
from ...validation.storage.selections.selection import Selection
from ...validation.stores import store_of
from ..inputs.options import config_options, json_option, read_config
from ..inputs.store import store_option
from ..module_group import Verb
from ..terminal.output import (
    emit_document,
    emit_json_pieces,
    emit_text,
    print_message,
    print_note,
)
from ..terminal.width import columns_of

EXIT_BELOW = 6
_FEW = 20_000
"""So many trials are read at once, to tell why they ended by errors."""


@dataclass(frozen=True)
class _Chosen:
    """Which trials a report is of; without a choice all."""

    models: tuple[str, ...]
    suites: tuple[str, ...]
    since: datetime | None

    @property
    def selection(self) -> Selection:
        """The same for a store."""
        since = self.since.astimezone(UTC).isoformat(timespec="milliseconds") if self.since else ""
        return Selection(self.models, self.suites, since.replace("+00:00", "Z"))

    def has(self, record: Record) -> bool:
        """Whether ``record`` is of the chosen models and suites."""
        return (not self.models or record.model_id in self.models) and (
            not self.suites or record.suite in self.suites
        )

    @property
    def text(self) -> str:
        """As in `` of a/x``."""
        since = f" since {self.since.isoformat()}" if self.since else ""
        named = " and ".join((*self.models, *(f"suite {suite}" for suite in self.suites)))
        return (f" of {named}" if named else "") + since


@click.command(name="report", cls=Verb, example="toolspan report --format html -o report.html")
@click.option(
    "-m", "--model", "models", multiple=True, metavar="PROVIDER/MODEL", help="Only this model; may repeat."
)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; may repeat.")
@click.option(
    "--since", metavar="TIME", help="Only trials from then on: 2026-01-31 or 2026-01-31T12:00:00Z (UTC)."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(FORMS)),
    default="table",
    show_default=True,
    help="The form; badge are lines of Markdown.",
)
@click.option("-o", "--output", metavar="FILE", help="Write it to a file instead of stdout.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit 6 when the last record of a model and suite is below this rate, or is stale.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="Compare with an earlier report (--format json); exit 6 when a model or scenario is worse by more "
    "than chance.",
)
@click.option(
    "--forget", is_flag=True, help="Remove the chosen trials; the store is first copied beside itself."
)
@config_options
@store_option
@json_option
def command(
    models: tuple[str, ...],
    suites: tuple[str, ...],
    since: str | None,
    form: str,
    output: str | None,
    fail_under: float | None,
    baseline: str | None,
    forget: bool,
    choice: ConfigChoice,
    as_json: bool,
) -> int:
    """Show what the trials that `validate` has recorded beside the config prove about models.

    A record holds the trials of one model and suite under one fingerprint; it is stale when something that
    was measured has changed. --json has the records with each trial, --format json the figures too.

    Exit 2 when nothing is recorded, 6 for --fail-under and --baseline.
    """
    config = read_config(choice, needed=False, keys=("validation", "state_dir"))
    chosen = _Chosen(models, suites, _instant(since))
    before = baseline_of(Path(baseline)) if baseline else None
    if forget:
        _forget(config, chosen)
        return 0
    rule = BadgeRule.of(config)
    with _read(config, chosen, whole=as_json or form not in FORMS_OF_COUNTS) as records:
        contents = contents_of(records, rule, before)
        choices = read_choices(store_of(config))
        if as_json:
            found = (_with_choice(record_data(each, rule, StreamedList), choices) for each in records)
            emit_json_pieces(json_pieces(StreamedList(len(records), lambda: found)))
        elif form == "table" and output is None:
            _print(contents, choices)
        else:
            _write(output, FORMS[form](contents))
        return EXIT_BELOW if _fails(contents, fail_under) else 0


def _instant(since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        return datetime.fromisoformat(instant(since))
    except ValueError as error:
        raise UsageError(f"--since: {error}") from None


@contextmanager
def _read(config: Config, chosen: _Chosen, *, whole: bool) -> Generator[list[Record]]:
    """The chosen records of the store beside ``config``. Their trials are read where the ``whole`` is wanted
    or there are few, as reading many takes long; those can be gone through while the block runs. Raises
    ``UsageError`` where there are none."""
    place, present = store_of(config), present_of(config)
    with ExitStack() as stack:
        records: list[Record] = []
        if store := Store.existing(place, redact=config.redact):
            stack.enter_context(store)
            records = [record for record in store.records(present=present) if chosen.has(record)]
            few = sum(record.counts.tried for record in records) <= _FEW
            if whole or few or chosen.since:
                snapshot = stack.enter_context(store.snapshot())
                records = snapshot.records(chosen.selection, present)
            for notice in store.notices:
                print_note(notice)
        if not records:
            shown = place_of(place).shown
            raise UsageError(
                f"no trials{chosen.text} are recorded in {shown} (`toolspan validate` records some)"
            )
        yield records


def _forget(config: Config, chosen: _Chosen) -> None:
    store = Store.existing(place := store_of(config), redact=config.redact)
    shown = place_of(place).shown
    if store is None:
        raise UsageError(f"there is nothing to forget: no trials are recorded in {shown}")
    with store:
        count, backup = store.forget(lambda trial: True, config.state_directory, chosen.selection)
    if backup is None:
        raise UsageError(f"there is nothing to forget: no trials{chosen.text} are recorded in {shown}")
    print_message(f"forgot {count:,} trial{'' if count == 1 else 's'}; they are still in {backup}")


def _with_choice(record: dict[str, Any], choices: Mapping[str, WordingChoice]) -> dict[str, Any]:
    """``record``, with the wording that was chosen for its model where one was."""
    made = choices.get(record["model_id"])
    return {**record, "wording": made.as_dict()} if made else record


def _write(output: str | None, pieces: Iterable[str]) -> None:
    if output is None:
        for piece in pieces:
            emit_document(piece)
        return
    try:
        write_pieces(Path(output), pieces)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}") from None
    print_message(f"wrote {output}", err=True)


def _print(contents: Contents, choices: Mapping[str, WordingChoice]) -> None:
    """The table for whoever reads it: a terminal is as wide as it is, a pipe takes every line whole."""
    width = columns_of(sys.stdout) if sys.stdout.isatty() else None
    for line in lines(contents, width):
        emit_text(line)
    for model_id in dict.fromkeys(record.model_id for record in contents.records):
        if made := choices.get(model_id):
            emit_text(made.text)


def _fails(contents: Contents, fail_under: float | None) -> bool:
    below = contents.below(fail_under) if fail_under is not None else ()
    for record in below:
        why = _why(record)
        print_note(f"{record.model_id}, {record.suite} does not reach {fail_under:g}: {why}")
    worse = contents.comparison.regressions if contents.comparison else ()
    for cell in worse:
        name = ", ".join(part for part in cell.name if part)
        print_note(f"{name} is worse than the baseline: {cell.before.text} before, {cell.now.text} now")
    return bool(below or worse)


def _why(record: Record) -> str:
    """Why a record does not reach a rate."""
    if record.changed:
        return f"stale, what changed is {changes_text(record.changed)}"
    if not record.counts.n:
        return f"no trial came to an end, {record.counts.errors:,} ended by an error of the provider"
    return record.counts.text
