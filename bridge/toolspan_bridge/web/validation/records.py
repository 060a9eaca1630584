"""What the validation store has, as the API gives it. Each function reads the store: call it in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...validation import BadgeRule, Record, Store, present_of
from ...validation.badges import badge_of
from ...validation.evidence.comparison import CellName, compared
from ...validation.evidence.counts import Counts
from ...validation.evidence.records import counted_records
from ...validation.reports.contents import cells_of, contents_of
from ...validation.storage.selections.selection import Selection
from ...validation.stores import store_of
from ..problems import Problem

if TYPE_CHECKING:
    from toolspan_server.config import Config

    from ...validation.storage.trial import Trial


def matrix(config: Config) -> dict[str, Any]:
    """``{"threshold", "minimum", "models", "suites", "cells"}``: the last record of each model and suite, as
    it stands now."""
    rule = BadgeRule.of(config)
    latest = contents_of(_records(config), rule).latest
    return {
        "threshold": rule.threshold,
        "minimum": rule.minimum,
        "models": sorted({record.model_id for record in latest}),
        "suites": sorted({record.suite for record in latest}),
        "cells": [_cell(record, rule) for record in latest],
    }


def history(config: Config, models: Sequence[str], suites: Sequence[str]) -> list[dict[str, Any]]:
    """Every record of ``models`` and ``suites`` (none: all), with its fingerprint, the oldest first."""
    rule = BadgeRule.of(config)
    found = [
        record
        for record in _records(config)
        if (not models or record.model_id in models) and (not suites or record.suite in suites)
    ]
    return [
        {**_cell(each, rule), "fingerprint": each.fingerprint.as_dict() if each.fingerprint else None}
        for each in sorted(found, key=lambda record: (record.last_tested, record.model_id, record.suite))
    ]


def trials(
    config: Config, selection: Selection, scenario: str | None, skip: int, most: int
) -> tuple[list[dict[str, Any]], bool]:
    """At most ``most`` of the selected trials with their transcripts, after the first ``skip``; whether there
    are more."""
    store = Store.existing(store_of(config), redact=config.redact)
    if store is None:
        return [], False
    with store:
        of_scenario = (each for each in store.stream(selection) if scenario in (None, each.scenario))
        found = list(islice(of_scenario, skip, skip + most + 1))
    return [_trial(trial) for trial in found[:most]], len(found) > most


def stored_runs(config: Config, most: int) -> list[dict[str, Any]]:
    """The last ``most`` runs of the store, the latest first, whoever made them."""
    store = Store.existing(store_of(config), redact=config.redact)
    if store is None:
        return []
    with store:
        found = store.latest_runs(most)
    return [
        {
            "run": each.id,
            "started": each.started,
            "finished": each.finished or None,
            "models": list(each.contents.get("models", ())),
            "suites": list(each.contents.get("suites", ())),
            "trials": each.contents.get("trials", 1),
        }
        for each in found
    ]


def comparison(config: Config, before: str, after: str) -> dict[str, Any]:
    """The cells of two runs of the store, by their ids, and whether they changed by more than chance. Raises
    ``Problem`` 404 for a run without trials."""
    return compared(_cells(config, before), _cells(config, after)).as_dict()


def badge_svg(config: Config, model: str, suite: str) -> str:
    """The badge of the last record as SVG. Raises ``Problem`` 404 where there is none."""
    rule = BadgeRule.of(config)
    for record in contents_of(_records(config), rule).latest:
        if (record.model_id, record.suite) == (model, suite):
            return badge_of(record, rule).svg(model)
    raise Problem(404, f"{model!r} has no trials of the suite {suite!r}")


def _records(config: Config) -> list[Record]:
    store = Store.existing(store_of(config), redact=config.redact)
    if store is None:
        return []
    with store:
        return store.records(present=present_of(config))


def _cells(config: Config, run: str) -> dict[CellName, Counts]:
    store = Store.existing(store_of(config), redact=config.redact)
    records: list[Record] = []
    if store is not None:
        with store:
            records = counted_records(store.stream(Selection(run=run)), present_of(config))
    if not records:
        raise Problem(404, f"the store has no trials of a run {run!r}")
    return cells_of(contents_of(records))


def _cell(record: Record, rule: BadgeRule) -> dict[str, Any]:
    badge = badge_of(record, rule)
    low, high = badge.as_dict()["interval"] or (None, None)
    return {
        "model": record.model_id,
        "suite": record.suite,
        "badge": {**badge.as_dict(), "sign": badge.sign, "low": low, "high": high},
        "errors": record.counts.errors,
        "scenarios": [
            {"scenario": name, "flaky": name in record.flaky, **counts.as_dict()}
            for name, counts in record.scenarios.items()
        ],
        "last_tested": record.last_tested,
    }


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "model": trial.model_id,
        "suite": trial.suite,
        "scenario": trial.scenario,
        "timestamp": trial.timestamp,
        "success": trial.success,
        "is_error": trial.is_error,
        "reason": trial.error or None,
        "run": trial.run or None,
        "number": trial.number or None,
        "details": dict(trial.details),
    }
