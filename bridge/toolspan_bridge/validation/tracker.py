"""A tracker of which models were tried with tools, and its file: ``[[model_id, record], …]``.

It is for programs that test models by themselves and keep the outcome in a file of their own; `toolspan
validate` keeps its trials in the store, from which ``Tracker.of_records`` makes one. Its methods are those of
the ``ModelValidationTracker`` that the file comes from:

    recordSuccess      record_success        isValidated        is_validated
    recordFailure      record_failure        getStatus          status
    getAllValidations  all_validations       save, load         save, load
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolspan_server.common.state.private_files import read_private

from ..errors import StoreError
from ..providers.wire.json_types import is_list, is_object
from ._clean import Redact, clean, clean_text
from .badges import RULE, THRESHOLD, Badge, BadgeRule
from .evidence.counts import Counts
from .records import is_validated, write_json
from .storage.trial import timestamp

__all__ = ["Tracker"]


class Tracker:
    """The outcomes of models' tests. ``threshold`` is the share of successes from which a model is validated.

    ``redact`` takes secrets out of what is recorded.
    """

    def __init__(self, threshold: float = THRESHOLD, redact: Redact = str) -> None:
        self._threshold = threshold
        self._redact = redact
        self._records: dict[str, dict[str, Any]] = {}

    @classmethod
    def of_records(cls, records: Iterable[Mapping[str, Any]], threshold: float = THRESHOLD) -> Tracker:
        """A tracker of ``records`` as ``build_records`` makes them; of several of a model the last tested
        one."""
        tracker = cls(threshold)
        for record in sorted(records, key=lambda each: str(each["last_tested"])):
            tracker._records[str(record["model_id"])] = _checked(record)
        return tracker

    def record_success(self, model_id: str, test_details: object = None) -> None:
        """Count a successful test, with what it was. (``recordSuccess``)"""
        self._add(model_id, success=True, details=clean(test_details, self._redact))

    def record_failure(self, model_id: str, error: object = "") -> None:
        """Count a failed test, with why it failed. (``recordFailure``)"""
        self._add(model_id, success=False, error=clean_text(self._redact(str(error))))

    def is_validated(self, model_id: str) -> bool:
        """Whether enough of the model's tests succeeded; never without one. (``isValidated``)"""
        return bool(self.status(model_id)["validated"])

    def status(self, model_id: str) -> dict[str, Any]:
        """The model's record, as ``build_record`` makes it; of a model that was never tested only
        ``{"model_id", "tested": false, "validated": false}``. (``getStatus``)"""
        found = self._records.get(model_id)
        return dict(found) if found else {"model_id": model_id, "tested": False, "validated": False}

    def badge(self, model_id: str, rule: BadgeRule = RULE) -> Badge:
        """What the model's tests prove, and how surely."""
        found = self._records.get(model_id)
        counts = Counts(found["test_count"], found["success_count"]) if found else Counts(0, 0)
        return Badge(rule.status(counts), counts)

    def all_validations(self) -> list[dict[str, Any]]:
        """The record of each model, in the order in which they were first tested. (``getAllValidations``)"""
        return [dict(record) for record in self._records.values()]

    def save(self, path: Path) -> None:
        """Write ``[[model_id, record], …]`` to ``path``, whole or not at all. Raises ``StoreError``."""
        write_json(path, [[model_id, record] for model_id, record in self._records.items()])

    def load(self, path: Path, *, private: bool = False) -> None:
        """Read what ``save`` wrote, in place of what is there; or a list of records, as `toolspan validate`
        exports them. A file that is not there is an empty one; a ``private`` one is read through no link.

        Raises ``StoreError`` for any other file: what is there stays, and so does the file.
        """
        try:
            data = _content(path, private=private)
            entries: Any = [] if data is None else json.loads(data)
            if not is_list(entries):
                raise TypeError("no list")
            pairs = [_pair(entry) for entry in entries]
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreError(
                f"{path} cannot be read as validation records: {error} (expected [[model_id, record], …])"
            ) from None
        found: dict[str, dict[str, Any]] = {}
        for model_id, record in pairs:
            earlier = found.get(model_id)
            if earlier is None or str(earlier["last_tested"]) <= str(record["last_tested"]):
                found[model_id] = record
        self._records = found

    def _add(self, model_id: str, *, success: bool, **outcome: Any) -> None:
        name, now = clean_text(self._redact(model_id)), timestamp()
        found = self._records.get(name) or _empty(name)
        count, successes = found["test_count"] + 1, found["success_count"] + success
        self._records[name] = {
            **found,
            "tested": True,
            "validated": is_validated(successes, count, self._threshold),
            "test_count": count,
            "success_count": successes,
            "last_tested": now,
            "test_history": [*found["test_history"], {"timestamp": now, "success": success, **outcome}],
        }


def _content(path: Path, *, private: bool) -> bytes | None:
    try:
        return read_private(path) if private else path.read_bytes()
    except FileNotFoundError:
        return None


def _empty(model_id: str) -> dict[str, Any]:
    return {
        "model_id": model_id,
        "tested": False,
        "validated": False,
        "test_count": 0,
        "success_count": 0,
        "last_tested": None,
        "test_history": [],
    }


def _pair(entry: Any) -> tuple[str, dict[str, Any]]:
    """``[model_id, record]``, or the record alone."""
    if is_object(entry):
        record = _checked(entry)
        return str(record["model_id"]), record
    model_id, record = entry
    return str(model_id), _checked({"model_id": model_id, **record})


def _checked(record: Mapping[str, Any]) -> dict[str, Any]:
    whole = {**_empty(str(record["model_id"])), **record}
    counts = (whole["test_count"], whole["success_count"])
    if not all(type(count) is int for count in counts) or not 0 <= counts[1] <= counts[0]:
        raise ValueError(f"{counts[1]} of {counts[0]} tests cannot have succeeded")
    if not isinstance(whole["test_history"], list):
        raise TypeError("test_history is no list")
    return whole
