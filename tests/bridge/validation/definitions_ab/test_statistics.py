"""Pairs of trials: the difference, its interval by Newcombe, and McNemar's exact test."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.trials import a_trial
from toolspan_bridge.validation import Suite, Trial
from toolspan_bridge.validation.definitions_ab import Renames, differences
from toolspan_bridge.validation.evidence.paired import Paired

pytestmark = pytest.mark.requirement("I14.3.30")

COUNTS = st.builds(Paired, *[st.integers(0, 60)] * 4)


@pytest.mark.parametrize(
    ("pairs", "p"),
    [
        (Paired(5, 0, 0, 5), Fraction(1)),
        (Paired(0, 0, 5, 0), Fraction(1, 16)),
        (Paired(0, 0, 6, 0), Fraction(1, 32)),
        (Paired(9, 1, 9, 1), Fraction(22, 1024)),
        (Paired(9, 4, 4, 1), Fraction(1)),
    ],
)
def test_the_exact_test_is_that_of_a_fair_coin_over_the_pairs_that_differ(pairs: Paired, p: Fraction) -> None:
    assert pairs.p == p


@given(COUNTS)
def test_the_interval_holds_the_difference_and_turns_round_with_the_sides(pairs: Paired) -> None:
    low, high = pairs.interval
    assert -1 <= low <= pairs.difference <= high <= 1
    other = Paired(pairs.both, pairs.only_now, pairs.only_before, pairs.neither)
    assert other.difference == -pairs.difference and other.p == pairs.p
    assert other.interval == pytest.approx((-high, -low))


def test_agreeing_pairs_are_surer_than_unrelated_ones() -> None:
    agreeing, unrelated = Paired(45, 0, 5, 50), Paired(22, 23, 28, 27)
    assert agreeing.difference == unrelated.difference == 0.05
    wide, narrow = unrelated.interval, agreeing.interval
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)


@pytest.mark.parametrize("chances", [(0.4, 0.1, 0.2, 0.3), (0.7, 0.05, 0.15, 0.1), (0.25, 0.25, 0.25, 0.25)])
def test_the_interval_holds_the_true_difference_in_about_95_of_100_cases(chances: tuple[float, ...]) -> None:
    n, truth, covered = 20, chances[2] - chances[1], 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            for c in range(n + 1 - a - b):
                counts = (a, b, c, n - a - b - c)
                low, high = Paired(*counts).interval
                if low <= truth <= high:
                    covered += _probability(counts, chances)
    assert 0.93 < covered < 0.99


def _probability(counts: tuple[int, ...], chances: tuple[float, ...]) -> float:
    ways = factorial(sum(counts))
    for count in counts:
        ways //= factorial(count)
    likely = float(ways)
    for count, chance in zip(counts, chances, strict=True):
        likely *= chance**count
    return likely


def trials(scenario: str, signs: str, tool: str = "add", model: str = "a/x") -> list[Trial]:
    """A trial for each sign: + succeeded, - failed, e ended by an error."""
    details = {"expected": {"calls": [tool]}}
    return [
        Trial(model, "s", scenario, "2026-01-01", sign == "+", "", details, is_error=sign == "e")
        for sign in signs
    ]


def test_pairs_are_of_one_scenario_and_cells_are_corrected_for_their_number() -> None:
    before = trials("one", "-" * 8) + trials("two", "+" * 8, "close")
    now = trials("two", "+" * 8, "close") + trials("one", "+" * 8)
    [found] = differences(before, now)
    assert found.all.pairs == Paired(8, 0, 8, 0) and found.all.change == "better"
    assert [(cell.name, cell.change) for cell in found.tools] == [("add", "better"), ("close", "same")]
    one = found.scenarios[0]
    assert one.pairs.p == Fraction(1, 128) and one.corrected == Fraction(1, 64)


def test_errors_have_no_partner_and_are_counted() -> None:
    [found] = differences(trials("one", "++e-"), trials("one", "+-++"))
    assert found.all.pairs == Paired(1, 1, 1, 0)
    assert found.unpaired == 2


def test_each_model_is_compared_with_itself() -> None:
    before = [*trials("one", "--"), *trials("one", "++", model="b/y"), a_trial("one", model_id="c/z")]
    now = [*trials("one", "++"), *trials("one", "++", model="b/y")]
    assert [(each.model_id, each.all.pairs.difference) for each in differences(before, now)] == [
        ("a/x", 1.0),
        ("b/y", 0.0),
    ]


@pytest.mark.requirement("I14.3.31")
def test_every_place_of_a_suite_has_the_other_names() -> None:
    called = {"tool": "old", "arguments": {"a": 1, "b": 2}}
    scenario = {
        "name": "one",
        "turns": [{"query": "x", "expect": {"calls": [called], "never": ["other"]}}],
        "tools": ["old", "shop/old", "get_*"],
        "mocks": {"old": {"response": 1}},
        "approvals": {"old": "deny"},
    }
    suite = Suite.model_validate({"name": "s", "scenarios": [scenario]})
    renames = Renames.parsed(["old=new", "old.a=c"], ["old", "other"])
    [found] = renames.applied_to(suite).scenarios
    [turn] = found.asked
    assert [(call.tool, call.arguments) for call in turn.expect.calls] == [("new", {"c": 1, "b": 2})]
    assert (turn.expect.never, found.tools) == (("other",), ("new", "shop/new", "get_*"))
    assert (list(found.mocks), list(found.approvals)) == (["new"], ["new"])
    assert Renames.parsed([], ["old"]).applied_to(suite) is suite
