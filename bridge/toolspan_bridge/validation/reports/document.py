"""The report as a JSON document: ``report.schema.json`` beside this file is its schema, ``VERSION`` its
version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ...errors import UsageError
from ...providers.prices import usd_data
from ..badges import badge_of
from ..evidence.comparison import CellName
from ..evidence.counts import Counts
from ..evidence.records import Record
from ..evidence.weights import rounded
from ..fingerprint import toolspan_version
from ..storage.trial import Trial
from .contents import Contents
from .streamed import StreamedList, json_pieces

__all__ = ["NAME", "SCHEMA_FILE", "VERSION", "baseline_of", "document", "render"]

NAME = "toolspan-report"
VERSION = 2
"""Raised when a reader of the earlier document could misread a new one; keys may be added without it.
Version 1 knew no errors: all trials were among the ``n``."""
_BASELINES = (1, 2)
SCHEMA_FILE = Path(__file__).with_name("report.schema.json")


def render(contents: Contents) -> Iterator[str]:
    """The document as text, in pieces; trials are read while it is written."""
    return json_pieces(document(contents))


def document(contents: Contents) -> dict[str, Any]:
    """``{"document": "toolspan-report", "version": 2, "toolspan", "generated", "threshold", "minimum",
    "records", "comparison"}``; ``comparison`` is ``null`` without a baseline. The lists of trials are
    streamed ones."""
    return {
        "document": NAME,
        "version": VERSION,
        "toolspan": toolspan_version(),
        "generated": contents.generated,
        "threshold": contents.rule.threshold,
        "minimum": contents.rule.minimum,
        "records": [_record(contents, record) for record in contents.records],
        "comparison": contents.comparison.as_dict() if contents.comparison else None,
    }


def baseline_of(path: Path) -> dict[CellName, Counts]:
    """The cells of the document in the file ``path``. Raises ``UsageError`` when it is none, or of a later
    version."""
    try:
        data: Any = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise _no_document(path) from None
    if not isinstance(data, dict) or cast("dict[str, Any]", data).get("document") != NAME:
        raise _no_document(path)
    found = cast("dict[str, Any]", data)
    if found.get("version") not in _BASELINES:
        known = " and ".join(map(str, _BASELINES))
        raise UsageError(
            f"{path} has version {found.get('version')!r} of the report, this Toolspan reads {known}"
        )
    try:
        return _cells(found["records"])
    except (KeyError, TypeError, ValueError):
        raise _no_document(path) from None


def _no_document(path: Path) -> UsageError:
    return UsageError(
        f"{path} is no report that can be a baseline: make one with `toolspan report --format json`"
    )


def _cells(records: Sequence[Mapping[str, Any]]) -> dict[CellName, Counts]:
    """Of each model and suite the record that was tested last."""
    last: dict[tuple[str, str], Mapping[str, Any]] = {}
    for record in sorted(records, key=lambda each: each["last_tested"]):
        last[str(record["model_id"]), str(record["suite"])] = record
    cells: dict[CellName, Counts] = {}
    for (model, suite), record in last.items():
        cells[model, suite, ""] = _counts(record["counts"])
        for scenario in record["scenarios"]:
            cells[model, suite, str(scenario["name"])] = _counts(scenario)
    return cells


def _counts(data: Mapping[str, Any]) -> Counts:
    n, successes = int(data["n"]), int(data["successes"])
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n}")
    return Counts(n, successes)


def _record(contents: Contents, record: Record) -> dict[str, Any]:
    evidence = record.evidence
    pairs = sorted(evidence.confusion.items())
    return {
        "model_id": record.model_id,
        "suite": record.suite,
        "badge": badge_of(record, contents.rule).as_dict(),
        "fingerprint": record.fingerprint.as_dict() if record.fingerprint else None,
        "changed": list(record.changed),
        "first_tested": record.first_tested,
        "last_tested": record.last_tested,
        "counts": record.counts.as_dict(),
        "scenarios": _named(evidence.scenarios),
        "tools": _named(evidence.tools),
        "tags": _named(evidence.tags),
        "pass_k": {str(k): round(float(share), 6) for k, share in evidence.consistency.items()},
        "weighted_rate": rounded(evidence.weighted_rate),
        "flaky": list(evidence.flaky),
        "confusion": [
            {"expected": expected or None, "called": called or None, "count": count}
            for (expected, called), count in pairs
        ],
        "latency_ms": {f"p{each}": value for each, value in evidence.latency_ms.items()},
        "tokens": {"total": evidence.tokens, "per_success": evidence.tokens_per_success},
        "cost": {**usd_data(evidence.usd), "usd_per_success": evidence.usd_per_success},
        "trials": StreamedList(evidence.counts.tried, lambda: map(_trial, record.trials)),
    }


def _named(counts: Mapping[str, Counts]) -> list[dict[str, Any]]:
    return [{"name": name, **each.as_dict()} for name, each in counts.items()]


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "scenario": trial.scenario,
        "timestamp": trial.timestamp,
        "success": trial.success,
        "is_error": trial.is_error,
        "error": trial.error,
        "details": dict(trial.details),
    }
