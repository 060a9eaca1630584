"""What is noted before a batch is created, so that one whose answer was lost is not created, and paid, again.

In a file: ``{"toolspan_intended": 1, "at": "2026-11-24T05:20:00+00:00", "mark": "…", "batch": {…}}``, the
batch as in its own file, with an empty id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from ..errors import UsageError
from ..providers.wire.json_types import is_object
from .handle import Batch

__all__ = ["Intention"]

_KEY = "toolspan_intended"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Intention:
    """``batch``, without an id, is to be created ``at`` that time with the ``mark`` by which ``find_batch``
    finds it; the mark is empty where the provider's list of batches has none."""

    batch: Batch
    mark: str
    at: datetime

    @property
    def age(self) -> float:
        """Seconds since it was noted, by this machine's clock."""
        return (datetime.now(UTC) - self.at).total_seconds()

    def to_json(self) -> bytes:
        """It as JSON, without a secret."""
        batch = json.loads(self.batch.to_json())
        told = {
            _KEY: _VERSION,
            "at": self.at.isoformat(timespec="seconds"),
            "mark": self.mark,
            "batch": batch,
        }
        return json.dumps(told, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """What is noted in ``data``. Raises ``UsageError`` when that is none, or a newer version's."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise UsageError("it is no JSON") from None
        given: Mapping[str, Any] = value if is_object(value) else {}
        if given.get(_KEY) != _VERSION:
            raise UsageError("it is no noted batch of this version of toolspan")
        try:
            at = datetime.fromisoformat(str(given.get("at")))
        except ValueError:
            raise UsageError("at is no time") from None
        batch = Batch.from_json(json.dumps(given.get("batch")).encode())
        mark = given.get("mark")
        return cls(batch, mark if isinstance(mark, str) else "", at if at.tzinfo else at.replace(tzinfo=UTC))
