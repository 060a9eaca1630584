"""What follows from records: the better mode, the tools that fail, the cheapest of the validated models."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.trials import a_trial
from toolspan_bridge.providers.best import best_of
from toolspan_bridge.validation import Badge, BadgeRule, Counts, Fingerprint, Record
from toolspan_bridge.validation.evidence import fisher_exact
from toolspan_bridge.validation.standing import (
    BetterMode,
    Candidate,
    better_mode,
    failing_tools,
)

_PROMPT = {"mode": "prompt", "wording": "json-tools"}


def record(successes: int, n: int, changed: tuple[str, ...] = (), **parts: str) -> Record:
    mark = Fingerprint(**{"model": "x", "mode": "native", "suite": "s", "tools": "t", **parts})
    return Record("a/x", "suite", mark, Counts(n, successes), "2026-01-01", "2026-01-02", changed)


@pytest.mark.requirement("I14.4.2")
@pytest.mark.parametrize(
    ("natively", "prompted", "is_better"), [(21, 38, True), (34, 38, False), (38, 21, False)]
)
def test_prompts_are_better_only_by_more_than_chance(natively: int, prompted: int, is_better: bool) -> None:
    found = better_mode([record(natively, 40), record(prompted, 40, **_PROMPT)])
    assert (found is not None) == is_better
    if found:
        p = fisher_exact(prompted, 40, natively, 40)
        assert found == BetterMode("json-tools", Counts(40, 38), Counts(40, 21), p)
        assert found.text == "38 of 40 succeeded, natively 21 of 40 (p < 0.001)"


@pytest.mark.requirement("I14.4.2")
@pytest.mark.parametrize(
    "other",
    [{"suite": "other"}, {"tools": "other"}, {"model_version": "2"}, {"sampling": "{}"}, {"toolspan": "0"}],
)
def test_only_measurements_that_differ_in_nothing_but_the_mode_are_compared(other: Mapping[str, str]) -> None:
    assert better_mode([record(0, 40), record(40, 40, **_PROMPT)])
    assert better_mode([record(0, 40), record(40, 40, **_PROMPT, **other)]) is None


@pytest.mark.requirement("I14.4.2")
def test_neither_what_is_stale_nor_too_few_trials_count() -> None:
    assert better_mode([record(0, 40, ("tools",)), record(40, 40, **_PROMPT)]) is None
    assert better_mode([record(0, 9), record(40, 40, **_PROMPT)]) is None
    assert better_mode([record(0, 9), record(40, 40, **_PROMPT)], minimum=9)


@pytest.mark.requirement("I14.4.2")
def test_worse_in_another_suite_is_not_better_and_the_best_of_several_wordings_is_taken() -> None:
    better = [record(0, 40), record(40, 40, **_PROMPT)]
    worse = [record(40, 40, suite="two"), record(0, 40, suite="two", **_PROMPT)]
    assert better_mode([*better, *worse]) is None
    found = better_mode(
        [record(0, 40), record(30, 40, **_PROMPT), record(39, 40, mode="prompt", wording="w")]
    )
    assert found is not None and (found.wording, found.named("a/x")) == ("w", "prompt.w:a/x")


@pytest.mark.requirement("I14.4.2")
def test_many_wordings_make_a_difference_by_chance_likelier_and_are_corrected_for() -> None:
    native, prompted = record(10, 20), {"mode": "prompt"}
    once = [native, record(17, 20, wording="a", **prompted)]
    assert better_mode(once) is not None
    assert better_mode([*once, record(10, 20, wording="b", **prompted)]) is None


def with_outcomes(last_tested: str, changed: tuple[str, ...] = (), **outcomes: str) -> Record:
    """A record with a trial for each sign of a tool's ``outcomes``, + or -."""
    trials = tuple(
        a_trial(success=sign == "+", details={"expected": {"calls": [tool]}})
        for tool, signs in outcomes.items()
        for sign in signs
    )
    mark = Fingerprint(model="x", mode="native")
    return Record("a/x", "s", mark, Counts.of(trials), "", last_tested, changed, trials)


@pytest.mark.requirement("I14.4.3")
def test_a_tool_fails_where_the_upper_end_is_below_the_threshold_with_enough_trials() -> None:
    of = with_outcomes("1", never="-" * 10, few="-" * 9, half="+-" * 5, mostly="+++-" * 10, most="++++-" * 8)
    assert [tool.name for tool in failing_tools([of])] == ["half", "never"]
    found = failing_tools([of], BadgeRule(threshold=0.87, minimum=9))
    assert [tool.text for tool in found] == [
        "few (0 of 9 succeeded)",
        "half (5 of 10 succeeded)",
        "mostly (30 of 40 succeeded)",
        "never (0 of 10 succeeded)",
    ]


@pytest.mark.requirement("I14.4.3")
def test_of_each_tool_the_last_record_speaks_that_is_not_stale() -> None:
    older, newer = with_outcomes("1", a="-" * 10, b="-" * 10), with_outcomes("2", a="+" * 10)
    assert [tool.name for tool in failing_tools([newer, older])] == ["b"]
    assert failing_tools([with_outcomes("1", ("tools",), a="-" * 10)]) == ()


@pytest.mark.requirement("I14.4.4")
def test_the_cheapest_comes_first_then_what_costs_nobody_knows_and_what_is_no_language_model() -> None:
    sure = Badge("validated", Counts(20, 20))
    dear, cheap = Candidate("a/dear", "a", "dear", sure, 0.2), Candidate("a/cheap", "a", "cheap", sure, 0.1)
    unknown, local = Candidate("a/x", "a", "x", sure), Candidate("ollama/x", "ollama", "x", sure, 0.0)
    offline = Candidate("offline/keyword", "offline", "keyword", sure, 0.0)
    mixed = [offline, dear, unknown, cheap, local]
    assert sorted(mixed, key=lambda each: each.rank) == [local, cheap, dear, unknown, offline]


@pytest.mark.requirement("I14.4.4")
def test_best_is_a_word_of_its_own_unless_a_provider_has_that_name() -> None:
    assert (best_of("best"), best_of("Best:OpenAI"), best_of("best/x"), best_of("bestow/x")) == (
        "",
        "openai",
        None,
        None,
    )
    assert best_of("best:x", ["best"]) is None
