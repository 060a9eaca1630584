"""A first answer within a minute: a sample of the scenarios, spread over suites and tags."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import chain, zip_longest

from ..suites import Scenario, Suite

__all__ = ["QUICK_SCENARIOS", "QUICK_SECONDS", "sampled"]

QUICK_SCENARIOS = 20
QUICK_SECONDS = 60.0


def sampled(suites: Sequence[Suite], most: int = QUICK_SCENARIOS) -> tuple[Suite, ...]:
    """At most ``most`` scenarios of ``suites``, always the same ones: one of each suite and first tag, then a
    second one of each, and so on. A suite of which none is chosen is left out."""
    strata: dict[tuple[int, str], list[Scenario]] = {}
    for place, suite in enumerate(suites):
        for scenario in suite.scenarios:
            strata.setdefault((place, scenario.tags[0] if scenario.tags else ""), []).append(scenario)
    drawn = [[(at, each) for each in sorted(found, key=_order)] for (at, _), found in strata.items()]
    rounds = chain.from_iterable(zip_longest(*drawn))
    chosen = [each for each in rounds if each is not None][:most]
    kept = {place: {scenario.title for at, scenario in chosen if at == place} for place, _ in chosen}
    return tuple(
        suite.model_copy(update={"scenarios": tuple(s for s in suite.scenarios if s.title in kept[place])})
        for place, suite in enumerate(suites)
        if place in kept
    )


def _order(scenario: Scenario) -> str:
    return sha256(scenario.title.encode()).hexdigest()
