"""What was done over a period: calls, errors, latency and cost of each model and tool."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .entry import moment
from .latency import percentile

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

__all__ = ["Figures", "Summary", "summary_of"]

_NANO = 1_000_000_000


@dataclass(slots=True)
class Figures:
    """The figures of entries that are counted together. ``unpriced`` are those whose cost is not known, which
    ``usd`` leaves out."""

    count: int = 0
    errors: int = 0
    cancelled: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: int = 0
    unpriced: int = 0
    total_ms: float = 0.0
    steps: Counter[int] = field(default_factory=Counter[int])

    def add(self, row: Mapping[str, Any] | RowMapping) -> None:
        """Add an hour's figures."""
        self.count += row["count"]
        self.errors += row["count"] if row["status"] == "error" else 0
        self.cancelled += row["count"] if row["status"] == "cancelled" else 0
        for name in ("input_tokens", "output_tokens", "usd", "unpriced", "total_ms"):
            setattr(self, name, getattr(self, name) + row[name])
        self.steps[row["bucket"]] += row["count"]

    def as_dict(self) -> dict[str, Any]:
        """``{"count", "errors", "cancelled", "input_tokens", "output_tokens", "usd", "unpriced", "mean_ms",
        "p50_ms", "p90_ms", "p99_ms"}``."""
        return {
            "count": self.count,
            "errors": self.errors,
            "cancelled": self.cancelled,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd / _NANO,
            "unpriced": self.unpriced,
            "mean_ms": round(self.total_ms / self.count, 3) if self.count else None,
            "p50_ms": percentile(self.steps, 0.5),
            "p90_ms": percentile(self.steps, 0.9),
            "p99_ms": percentile(self.steps, 0.99),
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures from ``since`` to ``until`` (seconds since 1970, whole hours): of each model, of each tool,
    of requests that ask no model, and of all runs."""

    since: float
    until: float
    runs: Figures
    models: Mapping[str, Figures]
    tools: Mapping[str, Figures]
    requests: Mapping[str, Figures]

    def as_dict(self) -> dict[str, Any]:
        """``{"since", "until", "runs", "models": [{"name", …}], "tools", "requests"}``, the most used
        first."""

        def listed(figures: Mapping[str, Figures]) -> list[dict[str, Any]]:
            order = sorted(figures.items(), key=lambda each: (-each[1].count, each[0]))
            return [{"name": name, **found.as_dict()} for name, found in order]

        return {
            "since": moment(self.since),
            "until": moment(self.until),
            "runs": self.runs.as_dict(),
            "models": listed(self.models),
            "tools": listed(self.tools),
            "requests": listed(self.requests),
        }


def summary_of(rows: Iterable[Mapping[str, Any] | RowMapping], since: float, until: float) -> Summary:
    """The summary of the hours' figures in ``rows``."""
    kinds: dict[str, dict[str, Figures]] = {kind: defaultdict(Figures) for kind in ("run", "tool", "request")}
    runs = Figures()
    for row in rows:
        kinds[row["kind"]][row["name"]].add(row)
        if row["kind"] == "run":
            runs.add(row)
    return Summary(since, until, runs, kinds["run"], kinds["tool"], kinds["request"])
