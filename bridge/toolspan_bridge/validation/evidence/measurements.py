"""The figures of a set of trials: by scenario, tool and tag; consistency, time, tokens and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, comb
from typing import Any, cast

from ...providers.prices import total_usd
from ..storage.trial import Trial
from .confusion import confusion, expected_tools
from .counts import Counts
from .weights import weighted_rate

__all__ = ["PERCENTILES", "Evidence", "evidence_of", "pass_k"]

PERCENTILES = (50, 90, 95, 99)


@dataclass(frozen=True)
class Evidence:
    """The figures of ``trials``, which have one fingerprint. Those that ended by an error of the provider or
    the infrastructure are counted as such, and are in no other figure."""

    trials: tuple[Trial, ...]

    @cached_property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that did not end by such an error."""
        return tuple(trial for trial in self.trials if not trial.is_error)

    @cached_property
    def counts(self) -> Counts:
        """All trials together."""
        return Counts.of(self.trials)

    @cached_property
    def scenarios(self) -> dict[str, Counts]:
        """By scenario, in the order in which they were first asked."""
        return _counted(self.trials, lambda trial: [trial.scenario])

    @cached_property
    def tools(self) -> dict[str, Counts]:
        """By the tools whose calls were expected, sorted."""
        found = _counted(self.trials, lambda trial: expected_tools(trial) or ())
        return {tool: found[tool] for tool in sorted(found)}

    @cached_property
    def tags(self) -> dict[str, Counts]:
        """By the scenarios' tags, sorted."""
        found = _counted(self.trials, _tags)
        return {tag: found[tag] for tag in sorted(found)}

    @cached_property
    def confusion(self) -> dict[tuple[str, str], int]:
        """How often each pair of an expected and a called tool was seen; ``""`` is no tool."""
        return confusion(self.measured)

    @cached_property
    def consistency(self) -> dict[int, Fraction]:
        """Pass^k: the probability that ``k`` trials of a scenario, drawn from its own, all succeed; the mean
        of all scenarios that have any. For each ``k`` up to the fewest trials that one of them has."""
        counts = [each for each in self.scenarios.values() if each.n]
        most = min((each.n for each in counts), default=0)
        return {
            k: sum((pass_k(each, k) for each in counts), Fraction(0)) / len(counts)
            for k in range(1, most + 1)
        }

    @cached_property
    def flaky(self) -> tuple[str, ...]:
        """The scenarios of which some trials succeeded and some failed."""
        return tuple(name for name, each in self.scenarios.items() if 0 < each.successes < each.n)

    @cached_property
    def weighted_rate(self) -> float | None:
        """The share of successes where each trial counts as much as its scenario's weight; ``None`` where
        every scenario has the same."""
        return weighted_rate(self.trials)

    @cached_property
    def latency_ms(self) -> dict[int, int]:
        """The percentiles of a trial's milliseconds, by nearest rank; empty where no time is known."""
        times = sorted(
            time for trial in self.measured if (time := _whole(trial.details.get("duration_ms"))) is not None
        )
        return {each: times[ceil(len(times) * each / 100) - 1] for each in PERCENTILES} if times else {}

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return sum(trial.tokens for trial in self.measured)

    @cached_property
    def usd(self) -> float | None:
        """What all trials cost in US dollars; ``None`` where a trial's cost is not known."""
        return total_usd(trial.usd for trial in self.measured)

    @property
    def tokens_per_success(self) -> float | None:
        """All tokens, those of failures too, for each success; ``None`` without one, or without known
        tokens."""
        return self.tokens / self.counts.successes if self.counts.successes and self.tokens else None

    @property
    def usd_per_success(self) -> float | None:
        """The cost of all trials for each success; ``None`` without one, or where a cost is not known."""
        return None if self.usd is None or not self.counts.successes else self.usd / self.counts.successes


def evidence_of(trials: Iterable[Trial]) -> Evidence:
    """The figures of ``trials``, which have one fingerprint."""
    return Evidence(tuple(trials))


def pass_k(counts: Counts, k: int) -> Fraction:
    """The probability that ``k`` trials, drawn without putting back, all succeeded (pass^k of tau-bench).

    Raises ``ValueError`` where there are not as many.
    """
    if not 1 <= k <= counts.n:
        raise ValueError(f"pass^{k} needs {k} trials, and there are {counts.n}")
    return Fraction(comb(counts.successes, k), comb(counts.n, k))


def _counted(trials: Sequence[Trial], groups: Callable[[Trial], Iterable[str]]) -> dict[str, Counts]:
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        for name in dict.fromkeys(groups(trial)):
            grouped.setdefault(name, []).append(trial)
    return {name: Counts.of(group) for name, group in grouped.items()}


def _tags(trial: Trial) -> tuple[str, ...]:
    tags: Any = trial.details.get("tags")
    if isinstance(tags, Mapping) or not isinstance(tags, Sequence) or isinstance(tags, str):
        return ()
    return tuple(str(tag) for tag in cast("Sequence[object]", tags))


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
