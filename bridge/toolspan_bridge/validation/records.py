"""Validation records: what all trials of a model come to, in the shape that is exported.

{"model_id": "openai/gpt-4o", "tested": true, "validated": true, "test_count": 5, "success_count": 4,
 "error_count": 1, "last_tested": "2026-11-21T10:00:00.123Z", "cost": {"usd": 0.0021}, "rescued": 0,
 "suite": "default",
 "fingerprint": {"model": "gpt-4o", "mode": "native", …}, "badge": {"status": "provisional", "n": 5, …},
 "test_history": [{"timestamp": …, "success": true, "cost": {…}, "rescued": 0, "details": {…}},
                  {"timestamp": …, "success": false, "cost": {"usd": null}, "rescued": 0, "error": "…"}],
 "errors": [{"timestamp": …, "error": "429: too many requests"}]}

``validated`` is the rule of old, a rate of at least 0.8; ``badge`` says how sure that is. Trials of different
fingerprints or suites are in different records; ``fingerprint`` is ``null`` for those of versions that kept
none. ``cost`` is in US dollars, ``null`` where a price is not known or a trial was recorded before costs
were; ``rescued`` counts the calls that the model wrote as text. ``errors`` are trials that the provider or
the infrastructure did not bring to an end: no other figure counts them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from toolspan_server.common.state.folder import private_folder
from toolspan_server.common.state.private_files import write_private

from ..errors import StoreError
from ..providers.prices import usd_data
from .badges import RULE, THRESHOLD, BadgeRule, badge_of
from .evidence.counts import Counts
from .evidence.measurements import Evidence, evidence_of
from .evidence.records import Present, Record, records_of
from .storage.lock import locked
from .storage.store import Store
from .storage.trial import Trial

ListMaker = Callable[[int, Callable[[], Iterable[Any]]], list[Any]]
"""Makes a list of so many entries of what gives them, now or when it is written."""

EXPORT_FILE = "validation.json"
"""The exported records' name in the state directory."""


def is_validated(success_count: int, test_count: int, threshold: float = THRESHOLD) -> bool:
    """Whether enough of the trials succeeded; never without a trial."""
    return test_count > 0 and success_count / test_count >= threshold


def build_records(
    trials: Iterable[Trial],
    present: Present = lambda record: {},
    rule: BadgeRule = RULE,
) -> list[dict[str, Any]]:
    """The records of ``trials`` (oldest first), sorted by ``model_id`` and suite, the last tested one first.

    ``test_history`` is whole: as many entries as ``test_count``. ``present`` gives the parts of a record's
    fingerprint as they are now, by which it may be stale.
    """
    return [record_data(record, rule) for record in records_of(trials, present)]


def build_record(model_id: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """One model's record without its evidence; with no trial, that of a model that was not tested.

    ``{"model_id", "tested", "validated", "test_count", "success_count", "error_count", "last_tested", "cost",
    "rescued", "test_history": [{"timestamp", "success", "cost", "rescued", "details" or "error"}],
    "errors": [{"timestamp", "error"}]}``, times in ISO 8601 UTC, costs as ``{"usd"}``. What the provider or
    the infrastructure did not bring to an end is in ``errors`` and in no other figure.
    """
    evidence = evidence_of(trials)
    return {"model_id": model_id, **_figures(evidence), **_lists(trials, evidence.counts, _read)}


def _figures(evidence: Evidence) -> dict[str, Any]:
    counts = evidence.counts
    return {
        "tested": bool(counts.n),
        "validated": is_validated(counts.successes, counts.n),
        "test_count": counts.n,
        "success_count": counts.successes,
        "error_count": counts.errors,
        "last_tested": evidence.last_measured,
        "cost": usd_data(evidence.usd),
        "rescued": evidence.figures.rescued,
    }


def _lists(trials: Iterable[Trial], counts: Counts, listed: ListMaker) -> dict[str, list[Any]]:
    return {
        "test_history": listed(counts.n, lambda: (_entry(each) for each in trials if not each.is_error)),
        "errors": listed(counts.errors, lambda: (_error(each) for each in trials if each.is_error)),
    }


def _read(count: int, items: Callable[[], Iterable[Any]]) -> list[Any]:
    return list(items())


def export_records(
    store: Store, path: Path, present: Present = lambda record: {}, rule: BadgeRule = RULE
) -> Path:
    """Write every record to ``path`` as a JSON list, as ``build_records`` makes it, and return ``path``.

    The file is replaced whole or stays as it was. Of exports at the same time the last one holds every trial.
    Raises ``StoreError``.
    """
    write_json(path, lambda: build_records(store.trials(), present, rule))
    return path


def write_json(path: Path, data: object | Callable[[], object]) -> None:
    """Write ``data``, or what it gives once no other process writes there, to ``path`` as JSON, whole or not
    at all.

    Raises ``StoreError``.
    """
    try:
        private_folder(path.parent)
        with locked(path.with_name(f"{path.name}.lock")):
            found = data() if callable(data) else data
            write_private(path, (json.dumps(found, ensure_ascii=False, indent=2) + "\n").encode())
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(
            f"cannot write the validation records to {path}: {why}; the trials are safe"
        ) from error


def record_data(record: Record, rule: BadgeRule = RULE, listed: ListMaker = _read) -> dict[str, Any]:
    """``record`` with its trials, as one of ``build_records``; ``listed`` makes its lists of what gives
    their entries."""
    return {
        "model_id": record.model_id,
        **_figures(record.evidence),
        "suite": record.suite,
        "fingerprint": record.fingerprint.as_dict() if record.fingerprint else None,
        "badge": badge_of(record, rule).as_dict(),
        **_lists(record.trials, record.counts, listed),
    }


def _entry(trial: Trial) -> dict[str, Any]:
    outcome = {"details": dict(trial.details)} if trial.success else {"error": trial.error}
    measured = {"cost": usd_data(trial.usd), "rescued": trial.rescued}
    return {"timestamp": trial.timestamp, "success": trial.success, **measured, **outcome}


def _error(trial: Trial) -> dict[str, Any]:
    return {"timestamp": trial.timestamp, "error": trial.error}
