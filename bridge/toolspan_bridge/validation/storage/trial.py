"""A trial as it is kept, and when it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from ..fingerprint import Fingerprint

__all__ = ["Trial", "timestamp"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One scenario, put to one model, once.

    ``timestamp`` is when it ended (ISO 8601 UTC, milliseconds). ``error`` says why it failed and is empty
    for a success; ``details`` is what was asked and what came back, as a JSON object. ``fingerprint`` is of
    what was measured, ``None`` where that was not kept.

    ``is_error``: the provider or the infrastructure failed, and ``error`` says how; it is neither a success
    nor a failure of the model. ``run`` is the id of the ``Run`` that it is of and ``number`` its place in
    that run's plan, from 1; ``""`` and 0 where it is of none.
    """

    model_id: str
    suite: str
    scenario: str
    timestamp: str
    success: bool
    error: str
    details: Mapping[str, Any]
    fingerprint: Fingerprint | None = None
    is_error: bool = field(default=False, kw_only=True)
    run: str = field(default="", kw_only=True)
    number: int = field(default=0, kw_only=True)

    @property
    def usd(self) -> float | None:
        """What it cost in US dollars; ``None`` where that is not known, as of trials of earlier versions."""
        amount = _under(self.details, "cost", "usd")
        return float(amount) if isinstance(amount, int | float) and not isinstance(amount, bool) else None

    @property
    def rescued(self) -> int:
        """How many of its calls the model wrote as text."""
        count = self.details.get("rescued")
        return count if isinstance(count, int) else 0

    @property
    def tokens(self) -> int:
        """All tokens of its turns, in and out; 0 where they are not known."""
        counts = (_under(self.details, "usage", name) for name in ("input_tokens", "output_tokens"))
        return sum(count for count in counts if isinstance(count, int))


def timestamp() -> str:
    """Now, as ``2026-11-21T10:00:00.123Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _under(details: Mapping[str, Any], *keys: str) -> object:
    value: object = details
    for key in keys:
        value = cast("Mapping[str, object]", value).get(key) if isinstance(value, Mapping) else None
    return value
