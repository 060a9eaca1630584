"""The figures of a set of trials: by scenario, tool and tag; consistency, time, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, comb
from typing import Any, cast

from ..storage.trial import Trial
from .confusion import confusion, expected_tools
from .counts import Counts, Tally
from .figures import Figures
from .weights import Weights

__all__ = ["MOST_K", "PERCENTILES", "Evidence", "evidence_of", "pass_k"]

PERCENTILES = (50, 90, 95, 99)
MOST_K = 100
"""Up to so many trials in a row pass^k is told."""


class Evidence:
    """The figures of trials of one fingerprint, which are counted one after another and not kept. Those that
    ended by an error of the provider or the infrastructure are counted as such, and are in no other figure.

    ``confusion`` tells how often each pair of an expected and a called tool was seen (``""`` is no tool),
    ``figures`` what adds up, ``failures`` and ``errors`` how often a scenario ended for a reason, ``first``
    and ``last`` when the first and the last trial ended, ``last_measured`` the last that was no error, and
    ``milliseconds`` how long all took together, errors too.
    """

    def __init__(self) -> None:
        self.confusion = Counter[tuple[str, str]]()
        self.figures = Figures()
        self.failures = Counter[tuple[str, str]]()
        self.errors = Counter[tuple[str, str]]()
        self.first = self.last = ""
        self.last_measured: str | None = None
        self.milliseconds = 0
        self._all = Tally()
        self._scenarios: dict[str, Tally] = {}
        self._tools: dict[str, Tally] = {}
        self._tags: dict[str, Tally] = {}
        self._weights = Weights()
        self._times: list[int] = []
        self._usd = 0.0
        self._is_priced = True

    def add(self, trial: Trial) -> None:
        """Count ``trial``; they come oldest first."""
        self.first = self.first or trial.timestamp
        self.last = trial.timestamp
        duration = trial.details.get("duration_ms")
        self.milliseconds += duration if isinstance(duration, int) else 0
        for tally in self._tallies(trial):
            tally.add(trial)
        if trial.is_error:
            self.errors[trial.scenario, trial.error] += 1
        else:
            self._measure(trial, duration)

    def _tallies(self, trial: Trial) -> Iterable[Tally]:
        yield self._all
        yield self._scenarios.setdefault(trial.scenario, Tally())
        for tool in dict.fromkeys(expected_tools(trial) or ()):
            yield self._tools.setdefault(tool, Tally())
        for tag in dict.fromkeys(_tags(trial)):
            yield self._tags.setdefault(tag, Tally())

    def _measure(self, trial: Trial, duration: object) -> None:
        pairs = confusion([trial])
        self.confusion.update(pairs)
        self.figures.add_trial(trial, pairs)
        self._weights.add(trial)
        self.last_measured = trial.timestamp
        if not trial.success:
            self.failures[trial.scenario, trial.error] += 1
        if isinstance(duration, int) and not isinstance(duration, bool):
            self._times.append(duration)
        usd = trial.usd
        self._is_priced = self._is_priced and usd is not None
        self._usd += usd or 0.0

    @property
    def counts(self) -> Counts:
        """All trials together."""
        return self._all.counts

    @property
    def scenarios(self) -> dict[str, Counts]:
        """By scenario, in the order in which they were first asked."""
        return {name: tally.counts for name, tally in self._scenarios.items()}

    @property
    def tools(self) -> dict[str, Counts]:
        """By the tools whose calls were expected, sorted."""
        return {name: tally.counts for name, tally in sorted(self._tools.items())}

    @property
    def tags(self) -> dict[str, Counts]:
        """By the scenarios' tags, sorted."""
        return {name: tally.counts for name, tally in sorted(self._tags.items())}

    @property
    def consistency(self) -> dict[int, Fraction]:
        """Pass^k: the probability that ``k`` trials of a scenario, drawn from its own, all succeed; the mean
        of all scenarios that have any. For each ``k`` up to the fewest trials that one of them has, at most
        ``MOST_K``."""
        counts = [each for each in self.scenarios.values() if each.n]
        most = min((MOST_K, *(each.n for each in counts))) if counts else 0
        return {
            k: sum((pass_k(each, k) for each in counts), Fraction(0)) / len(counts)
            for k in range(1, most + 1)
        }

    @property
    def flaky(self) -> tuple[str, ...]:
        """The scenarios of which some trials succeeded and some failed."""
        return tuple(name for name, each in self.scenarios.items() if 0 < each.successes < each.n)

    @property
    def weighted_rate(self) -> float | None:
        """The share of successes where each trial counts as much as its scenario's weight; ``None`` where
        every scenario has the same."""
        return self._weights.rate

    @property
    def latency_ms(self) -> dict[int, int]:
        """The percentiles of a trial's milliseconds, by nearest rank; empty where no time is known."""
        times = sorted(self._times)
        return {each: times[ceil(len(times) * each / 100) - 1] for each in PERCENTILES} if times else {}

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.figures.tokens

    @property
    def usd(self) -> float | None:
        """What all trials cost in US dollars; ``None`` without one, or where a cost is not known."""
        return self._usd if self._is_priced and self.counts.n else None

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
    """The figures of ``trials``, which have one fingerprint, oldest first."""
    found = Evidence()
    for trial in trials:
        found.add(trial)
    return found


def pass_k(counts: Counts, k: int) -> Fraction:
    """The probability that ``k`` trials, drawn without putting back, all succeeded (pass^k of tau-bench).

    Raises ``ValueError`` where there are not as many.
    """
    if not 1 <= k <= counts.n:
        raise ValueError(f"pass^{k} needs {k} trials, and there are {counts.n}")
    return Fraction(comb(counts.successes, k), comb(counts.n, k))


def _tags(trial: Trial) -> tuple[str, ...]:
    tags: Any = trial.details.get("tags")
    if isinstance(tags, Mapping) or not isinstance(tags, Sequence) or isinstance(tags, str):
        return ()
    return tuple(str(tag) for tag in cast("Sequence[object]", tags))
