"""The figures of trials are what arithmetic says: by hand, by known tables, and by their definitions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.trials import a_trial
from toolspan_bridge.validation import Counts, Trial, compared
from toolspan_bridge.validation.evidence import evidence_of, fisher_exact, holm, wilson
from toolspan_bridge.validation.evidence.intervals import Z_95
from toolspan_bridge.validation.evidence.measurements import pass_k

pytestmark = pytest.mark.requirement("I14.3.3")

COUNTS = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_that_of_published_tables(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(COUNTS)
@settings(deadline=None)
def test_the_interval_ends_where_the_score_is_the_quantile(counts: tuple[int, int]) -> None:
    """Wilson's interval are the rates p with |rate - p| = z sqrt(p (1 - p) / n), here with fifty digits."""
    successes, n = counts
    low, high = wilson(successes, n)
    assert 0 <= low <= high <= 1
    if n == 0:
        return
    with localcontext() as context:
        context.prec = 50
        for end in (low, high):
            rate, p, z = Decimal(successes) / n, Decimal(end), Decimal(Z_95)
            distance = (rate - p) ** 2 - z * z * p * (1 - p) / n
            assert abs(distance) < Decimal("1e-12")
    assert low <= successes / n <= high


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_counts_that_cannot_be_are_refused(successes: int, n: int) -> None:
    for refused in (lambda: wilson(successes, n), lambda: fisher_exact(successes, n, 0, 1)):
        with pytest.raises(ValueError, match="cannot be successes"):
            refused()


@pytest.mark.requirement("I14.3.5")
@pytest.mark.parametrize(
    ("table", "p"),
    [
        ((3, 4, 1, 4), Fraction(34, 70)),  # the lady tasting tea
        ((2, 17, 10, 13), Fraction("0.0005367")),  # R's fisher.test(Convictions)
        ((8, 10, 1, 6), Fraction("0.0349650")),  # scipy.stats.fisher_exact([[8, 2], [1, 5]])
        ((5, 5, 5, 5), Fraction(1)),
        ((0, 0, 3, 4), Fraction(1)),
    ],
)
def test_the_exact_test_gives_known_values(table: tuple[int, int, int, int], p: Fraction) -> None:
    assert abs(fisher_exact(*table) - p) < Fraction(1, 10**6)


@pytest.mark.requirement("I14.3.5")
@given(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)))
@settings(deadline=None)
def test_the_exact_test_is_the_share_of_orders_that_differ_as_much(cells: tuple[int, int, int, int]) -> None:
    """Of all ways to deal the outcomes to both runs, how many are at most as probable as what was seen."""
    won, lost, other_won, other_lost = cells
    n, other, total = won + lost, other_won + other_lost, won + other_won
    ways = {k: comb(n, k) * comb(other, total - k) for k in range(n + 1) if 0 <= total - k <= other}
    extreme = sum(count for count in ways.values() if count <= ways[won])
    assert fisher_exact(won, n, other_won, other) == Fraction(extreme, sum(ways.values()))
    assert fisher_exact(won, n, other_won, other) == fisher_exact(other_won, other, won, n)


@pytest.mark.requirement("I14.3.5")
def test_holms_correction_is_that_of_his_example() -> None:
    values = [Fraction(n, 1000) for n in (10, 40, 30, 5)]
    assert holm(values) == [Fraction(n, 1000) for n in (30, 60, 60, 20)]
    assert holm([]) == []


@pytest.mark.requirement("I14.3.5")
@given(st.lists(st.fractions(0, 1), max_size=8))
def test_holms_correction_is_above_each_p_and_below_bonferronis_and_keeps_their_order(
    values: list[Fraction],
) -> None:
    corrected = holm(values)
    for before, after in zip(values, corrected, strict=True):
        assert before <= after <= min(Fraction(1), before * len(values))
    for (p, a), (q, b) in itertools.combinations(zip(values, corrected, strict=True), 2):
        assert (a <= b) if p <= q else (b <= a)


@pytest.mark.parametrize(
    ("successes", "n", "k", "share"), [(4, 5, 1, "4/5"), (4, 5, 2, "3/5"), (4, 5, 5, "0"), (3, 3, 3, "1")]
)
def test_pass_k_is_the_share_of_draws_that_all_succeed(successes: int, n: int, k: int, share: str) -> None:
    outcomes = [number < successes for number in range(n)]
    draws = list(itertools.combinations(outcomes, k))
    assert pass_k(Counts(n, successes), k) == Fraction(sum(map(all, draws)), len(draws)) == Fraction(share)


def tried(scenario: str, outcomes: str, **details: object) -> list[Trial]:
    """A trial for each of ``outcomes``, + or -."""
    return [
        a_trial(scenario, success=each == "+", details={"query": scenario, **details}) for each in outcomes
    ]


def test_consistency_is_the_mean_over_scenarios_up_to_the_fewest_trials() -> None:
    evidence = evidence_of((*tried("a", "+++-"), *tried("b", "++")))
    assert evidence.consistency == {1: Fraction(7, 8), 2: Fraction(3, 4)}
    assert evidence.flaky == ("a",)
    assert evidence.scenarios == {"a": Counts(4, 3), "b": Counts(2, 2)}
    assert evidence_of(()).consistency == {}


def test_tools_and_tags_are_counted_by_what_was_expected() -> None:
    both = {"expected": {"calls": ["find", "buy", "find"]}, "tags": ["shop", "long"]}
    trials = [
        *tried("a", "+-", **both),
        *tried("b", "+", expected={"calls": ["find"]}, tags=["shop"]),
        *tried("c", "-", expected={"no_calls": True}),
    ]
    evidence = evidence_of(tuple(trials))
    assert evidence.tools == {"buy": Counts(2, 1), "find": Counts(3, 2)}
    assert evidence.tags == {"long": Counts(2, 1), "shop": Counts(3, 2)}


@pytest.mark.parametrize(
    ("expected", "called", "pairs"),
    [
        ({"calls": ["a"]}, ["a"], {("a", "a"): 1}),
        ({"calls": ["a"]}, ["b", "a"], {("a", "a"): 1}),
        ({"calls": ["a"]}, ["b"], {("a", "b"): 1}),
        ({"calls": ["a"]}, [], {("a", ""): 1}),
        ({"calls": ["a", "a", "b"]}, ["a", "c"], {("a", "a"): 1, ("a", "c"): 1, ("b", ""): 1}),
        ({"no_calls": True}, [], {("", ""): 1}),
        ({"no_calls": True}, ["b", "b"], {("", "b"): 2}),
        ({}, ["a"], {}),
        (None, ["a"], {}),
    ],
)
def test_the_confusion_matrix_pairs_expected_with_called_tools(
    expected: object, called: Sequence[str], pairs: dict[tuple[str, str], int]
) -> None:
    calls = [{"tool": tool, "arguments": {}, "result": {}, "iteration": 1} for tool in called]
    assert evidence_of(tuple(tried("s", "+", expected=expected, tool_calls=calls))).confusion == pairs


def test_time_tokens_and_cost_are_of_all_trials_and_for_each_success() -> None:
    def one(name: str, outcome: str, ms: int, usd: float, tokens: int) -> list[Trial]:
        usage = {"input_tokens": tokens - 10, "output_tokens": 10}
        return tried(name, outcome, duration_ms=ms, cost={"usd": usd}, usage=usage)

    trials = [
        *one("a", "+", 10, 0.25, 100),
        *one("b", "-", 30, 0.5, 50),
        *one("c", "+", 20, 0.25, 150),
    ]
    evidence = evidence_of(tuple(trials))
    assert evidence.latency_ms == {50: 20, 90: 30, 95: 30, 99: 30}
    assert (evidence.tokens_per_success, evidence.usd_per_success) == (150, 0.5)
    failed = evidence_of(tuple(tried("a", "-", cost={"usd": 1.0})))
    assert (failed.tokens_per_success, failed.usd_per_success, failed.latency_ms) == (None, None, {})
    assert evidence_of(tuple(tried("a", "+"))).usd_per_success is None, "a cost that is not known"


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=300))
def test_a_percentile_is_the_least_time_that_so_many_trials_do_not_exceed(times: list[int]) -> None:
    evidence = evidence_of(tuple(trial for time in times for trial in tried("a", "+", duration_ms=time)))
    for percent, value in evidence.latency_ms.items():
        assert value in times
        assert sum(time <= value for time in times) * 100 >= percent * len(times)
        assert sum(time < value for time in times) * 100 < percent * len(times)


@pytest.mark.requirement("I14.3.5")
def test_a_change_counts_when_it_is_more_than_chance_among_all_cells() -> None:
    before = {
        ("m", "s", ""): Counts(40, 40),
        ("m", "s", "a"): Counts(20, 20),
        ("m", "s", "gone"): Counts(1, 1),
    }
    now = {("m", "s", ""): Counts(40, 20), ("m", "s", "a"): Counts(20, 18), ("m", "s", "new"): Counts(1, 1)}
    found = compared(before, now)
    assert [(cell.name, cell.change) for cell in found.cells] == [
        (("m", "s", ""), "worse"),
        (("m", "s", "a"), "same"),
    ]
    assert [cell.name for cell in found.regressions] == [("m", "s", "")]
    assert compared(now, before).improvements[0].name == ("m", "s", "")
    assert (found.only_before, found.only_now) == ((("m", "s", "gone"),), (("m", "s", "new"),))


@pytest.mark.requirement("I14.3.5")
def test_the_same_change_in_one_of_many_cells_may_be_chance() -> None:
    def cells(last: Counts) -> dict[tuple[str, str, str], Counts]:
        return {**{("m", "s", f"{n}"): Counts(8, 8) for n in range(30)}, ("m", "s", "it"): last}

    alone = compared({("m", "s", "it"): Counts(8, 8)}, {("m", "s", "it"): Counts(8, 3)})
    among = compared(cells(Counts(8, 8)), cells(Counts(8, 3)))
    assert [cell.change for cell in alone.cells] == ["worse"]
    assert among.regressions == ()
