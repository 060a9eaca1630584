"""A plan numbers every trial that is to be made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.errors import UsageError
from toolspan_bridge.validation import Suite
from toolspan_bridge.validation.runs.modes import Mode, in_modes
from toolspan_bridge.validation.runs.plan import Plan
from toolspan_bridge.validation.runs.quick import sampled


def suite(name: str, scenarios: int, tags: int = 1) -> Suite:
    """A suite of so many scenarios, which take turns with so many tags."""
    made = [
        {"name": f"{name}{n}", "query": "?", "expect": {"no_calls": True}, "tags": [f"t{n % tags}"]}
        for n in range(scenarios)
    ]
    return Suite.model_validate({"name": name, "scenarios": made})


sizes = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@pytest.mark.requirement("I14.2.4")
@given(st.integers(1, 4), sizes, st.integers(1, 4))
def test_every_trial_has_one_number_and_every_number_one_trial(
    models: int, scenarios: list[int], trials: int
) -> None:
    suites = tuple(suite(f"s{n}-", size) for n, size in enumerate(scenarios))
    plan = Plan(tuple(f"a/m{n}" for n in range(models)), suites, trials)

    cells = [plan.cell(number) for number in range(1, len(plan) + 1)]

    names = {(cell.model, cell.suite.name, cell.scenario.title, cell.trial) for cell in cells}
    assert len(names) == len(plan) == models * sum(scenarios) * trials
    assert [cell.number for cell in cells] == list(range(1, len(plan) + 1))
    assert [cell for model in plan.models for cell in plan.cells(model)] == cells


@pytest.mark.requirement("I14.2.4")
@pytest.mark.parametrize("number", [0, -1, 13])
def test_there_is_no_trial_beyond_the_plan(number: int) -> None:
    plan = Plan(("a/x", "a/y"), (suite("s", 3),), 2)
    with pytest.raises(IndexError, match=f"no trial {number}: the plan has 12"):
        plan.cell(number)


@pytest.mark.requirement("I14.2.4")
def test_every_scenario_is_tried_once_before_one_is_tried_again() -> None:
    plan = Plan(("a/x",), (suite("s", 2), suite("t", 1)), 2)
    tried = [(cell.scenario.title, cell.trial) for cell in plan.cells("a/x")]
    assert tried == [("s0", 1), ("s1", 1), ("t0", 1), ("s0", 2), ("s1", 2), ("t0", 2)]


@pytest.mark.requirement("I14.2.4")
def test_the_last_of_a_million_trials_is_found_without_making_the_others() -> None:
    plan = Plan(tuple(f"a/m{n}" for n in range(100)), (suite("s", 100),), 100)
    last = plan.cell(1_000_000)
    assert (last.model, last.scenario.title, last.trial) == ("a/m99", "s99", 100)
    assert next(plan.cells("a/m99")).number == 990_001


@pytest.mark.requirement("I14.2.4")
@pytest.mark.parametrize(
    ("modes", "models"),
    [
        ((), ("a", "prompt:openai/x", "a")),
        (("native",), ("openai/x", "offline/keyword")),
        (("prompt",), ("prompt:openai/x",)),
        (("native", "prompt"), ("openai/x", "prompt:openai/x", "offline/keyword")),
    ],
)
def test_each_model_is_asked_in_each_mode_that_it_has(
    modes: tuple[Mode, ...], models: tuple[str, ...]
) -> None:
    written = (
        ("a", "prompt:openai/x", "a") if not modes else ("openai:x", "prompt:openai/x", "offline/keyword")
    )
    assert in_modes(written, modes) == tuple(dict.fromkeys(models))


@pytest.mark.requirement("I14.2.4")
def test_a_model_that_has_no_prompt_alone_is_refused() -> None:
    with pytest.raises(UsageError, match="offline/keyword takes no prompt"):
        in_modes(["offline/keyword"], ("prompt",))


@pytest.mark.requirement("I14.2.5")
def test_a_quick_look_takes_of_each_suite_and_tag_in_turn() -> None:
    chosen = sampled([suite("big", 300, tags=3), suite("small", 2)], most=8)
    big, small = chosen
    assert (len(big.scenarios), len(small.scenarios)) == (6, 2)
    assert sorted(each.tags[0] for each in big.scenarios) == ["t0", "t0", "t1", "t1", "t2", "t2"]


@pytest.mark.requirement("I14.2.5")
@given(sizes, st.integers(1, 12))
def test_a_quick_look_is_always_the_same_part_of_the_suites(scenarios: list[int], most: int) -> None:
    suites = [suite(f"s{n}-", size, tags=2) for n, size in enumerate(scenarios)]
    chosen = sampled(suites, most)
    titles = [each.title for part in chosen for each in part.scenarios]
    assert len(titles) == min(most, sum(scenarios))
    assert titles == [each.title for whole in suites for each in whole.scenarios if each.title in titles]
    assert chosen == sampled(suites, most)
