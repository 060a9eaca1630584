"""Validation records: what all trials of a model come to, in the shape that is exported.

{"model_id": "openai/gpt-4o", "tested": true, "validated": true, "test_count": 5, "success_count": 4,
 "last_tested": "2026-11-21T10:00:00.123Z", "cost": {"usd": 0.0021}, "rescued": 0,
 "test_history": [{"timestamp": …, "success": true, "cost": {…}, "rescued": 0, "details": {…}},
                  {"timestamp": …, "success": false, "cost": {"usd": null}, "rescued": 0, "error": "…"}]}

``cost`` is in US dollars, ``null`` where a price is not known or a trial was recorded before costs were;
``rescued`` counts the calls that the model wrote as text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from toolspan_server.common.private_files import open_private, private_folder

from ..errors import StoreError
from ..providers.prices import total_usd, usd_data
from ._lock import locked
from .store import Store, Trial

EXPORT_FILE = "validation.json"
"""The exported records' name in the state directory."""

THRESHOLD = 0.8
"""The share of successful trials from which a model is validated."""


def is_validated(success_count: int, test_count: int, threshold: float = THRESHOLD) -> bool:
    """Whether enough of the trials succeeded; never without a trial."""
    return test_count > 0 and success_count / test_count >= threshold


def build_records(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """The record of each model in ``trials`` (oldest first), sorted by ``model_id``.

    ``test_history`` is whole: as many entries as ``test_count``.
    """
    by_model: dict[str, list[Trial]] = {}
    for trial in trials:
        by_model.setdefault(trial.model_id, []).append(trial)
    return [build_record(model_id, by_model[model_id]) for model_id in sorted(by_model)]


def build_record(model_id: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """One model's record; with no trial, that of a model that was not tested.

    ``{"model_id", "tested", "validated", "test_count", "success_count", "last_tested", "cost", "rescued",
    "test_history": [{"timestamp", "success", "cost", "rescued", "details" or "error"}]}``, times in ISO 8601
    UTC, costs as ``{"usd"}``.
    """
    successes = sum(trial.success for trial in trials)
    return {
        "model_id": model_id,
        "tested": bool(trials),
        "validated": is_validated(successes, len(trials)),
        "test_count": len(trials),
        "success_count": successes,
        "last_tested": trials[-1].timestamp if trials else None,
        "cost": usd_data(total_usd(trial.usd for trial in trials)),
        "rescued": sum(trial.rescued for trial in trials),
        "test_history": [_entry(trial) for trial in trials],
    }


def export_records(store: Store, path: Path) -> Path:
    """Write every model's record to ``path`` as a JSON list, and return ``path``.

    The file is replaced whole or stays as it was. Of exports at the same time the last one holds every trial.
    Raises ``StoreError``.
    """
    try:
        private_folder(path.parent)
        with locked(path.with_name(f"{path.name}.lock")):
            _replace(path, json.dumps(build_records(store.trials()), ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        why = error.strerror or str(error)
        raise StoreError(
            f"cannot write the validation records to {path}: {why}; the trials are safe"
        ) from error
    return path


def _entry(trial: Trial) -> dict[str, Any]:
    outcome = {"details": dict(trial.details)} if trial.success else {"error": trial.error}
    measured = {"cost": usd_data(trial.usd), "rescued": trial.rescued}
    return {"timestamp": trial.timestamp, "success": trial.success, **measured, **outcome}


def _replace(path: Path, text: str) -> None:
    from ._store_file import sync_directory

    fresh = path.with_name(f".{path.name}.tmp")
    try:
        descriptor = open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)
