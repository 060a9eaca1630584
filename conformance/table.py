"""The outcomes as text."""

from __future__ import annotations

from collections.abc import Sequence

from .run import Outcome

_COLUMNS = {"SUCCESS": "passed", "FAILURE": "failed", "WARNING": "warned", "SKIPPED": "skipped"}


def table(outcomes: Sequence[Outcome]) -> str:
    """One line a scenario, one table a suite, and what the checks that did not pass said."""
    return "\n\n".join(map(_one, outcomes))


def failures(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each suite that did not pass whole."""
    lines: list[str] = []
    for outcome in outcomes:
        failed = sum(scenario.counts["FAILURE"] for scenario in outcome.scenarios)
        if failed:
            lines.append(f"conformance {outcome.suite.title}: {failed} checks failed")
        if outcome.problem:
            lines.append(f"conformance {outcome.suite.title}: {outcome.problem}")
    return lines


def _one(outcome: Outcome) -> str:
    width = max((len(scenario.name) for scenario in outcome.scenarios), default=8)
    lines = [
        f"Conformance {outcome.suite.title} ({outcome.seconds:.0f} s)",
        f"{'scenario':{width}} " + " ".join(f"{title:>8}" for title in _COLUMNS.values()),
    ]
    for scenario in outcome.scenarios:
        counts = " ".join(f"{scenario.counts[status] or '·':>8}" for status in _COLUMNS)
        lines.append(f"{scenario.name:{width}} {counts}")
    totals = [sum(scenario.counts[status] for scenario in outcome.scenarios) for status in _COLUMNS]
    lines.append(f"{'total':{width}} " + " ".join(f"{total:>8}" for total in totals))
    for scenario in outcome.scenarios:
        lines += [f"  {scenario.name}: {said}" for said in scenario.said]
    return "\n".join(lines)
