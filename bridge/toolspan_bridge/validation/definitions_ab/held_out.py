"""A suite in two halves: one whose failures are looked at, and one that tests what was made of them."""

from __future__ import annotations

from hashlib import sha256

from ...errors import UsageError
from ..suites import Scenario, Suite

__all__ = ["halves"]


def halves(suite: Suite) -> tuple[Suite, Suite]:
    """The scenarios of ``suite`` that are looked at, and those that are held out; always the same ones.

    Of the scenarios that expect the same tools each half has as many, or one more; which ones is told by a
    hash of their names, so that another order of the file changes nothing. Raises ``UsageError`` where there
    are not two scenarios.
    """
    groups: dict[tuple[str, ...], list[Scenario]] = {}
    for scenario in suite.scenarios:
        groups.setdefault(_tools(scenario), []).append(scenario)
    ordered = [each for tools in sorted(groups) for each in sorted(groups[tools], key=_digest)]
    looked_at, held_out = ordered[::2], ordered[1::2]
    if not held_out:
        raise UsageError("--suggest needs two scenarios at least: one to look at, and one to test with")
    return _named(suite, looked_at, "looked at"), _named(suite, held_out, "held out")


def _tools(scenario: Scenario) -> tuple[str, ...]:
    return tuple(sorted({call.tool for turn in scenario.asked for call in turn.expect.calls}))


def _digest(scenario: Scenario) -> str:
    return sha256(scenario.title.encode("utf-8", "surrogatepass")).hexdigest()


def _named(suite: Suite, scenarios: list[Scenario], part: str) -> Suite:
    return suite.model_copy(update={"name": f"{suite.name}, {part}", "scenarios": tuple(scenarios)})
