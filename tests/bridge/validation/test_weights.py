"""Weights count in rates of their own; what says how sure a rate is counts every trial once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.trials import a_trial, answering
from tests.support.trials import given as answered
from toolspan_bridge import Answer, Store, Suite, Trial, validate
from toolspan_bridge.validation.evidence.weights import weighted_rate

pytestmark = pytest.mark.requirement("I14.1.44")


def _trial(weight: float | None, *, success: bool) -> Trial:
    details = {"query": "q"} if weight is None else {"query": "q", "weight": weight}
    return a_trial(success=success, details=details)


def test_a_scenario_of_weight_three_counts_as_three() -> None:
    trials = [_trial(3, success=True), _trial(None, success=False)]
    assert weighted_rate(trials) == 0.75


def test_without_weights_there_is_no_other_rate() -> None:
    assert weighted_rate([a_trial(), a_trial(success=False)]) is None
    assert weighted_rate([]) is None


@given(st.lists(st.tuples(st.floats(0.001, 1e6), st.booleans()), min_size=1), st.floats(0.01, 100))
def test_a_weighted_rate_is_a_share_without_a_scale(pairs: list[tuple[float, bool]], scale: float) -> None:
    trials = [a_trial(success=ok, details={"weight": weight}) for weight, ok in pairs]
    scaled = [a_trial(success=ok, details={"weight": weight * scale}) for weight, ok in pairs]
    rate, same = weighted_rate(trials), weighted_rate(scaled)
    if rate is not None and same is not None:
        assert 0 <= rate <= 1 and rate == pytest.approx(same)
        assert (rate == 1) == all(ok for _, ok in pairs)


@pytest.mark.anyio
async def test_the_report_has_the_weighted_rate_beside_that_of_badges(
    tmp_path: Path,
) -> None:
    expect = {"answer": "yes"}
    suite = Suite.model_validate(
        {
            "name": "s",
            "scenarios": [
                {"query": "a", "expect": expect, "weight": 4},
                {"query": "b", "expect": expect},
            ],
        }
    )

    @answering
    async def ask(model: str, query: str) -> Answer:
        return answered("yes" if query == "a" else "no")

    with Store.open(tmp_path / "s.sqlite3") as store:
        report = await validate(["m/x"], suite, ask, store)
        assert [trial.details.get("weight") for trial in store.trials()] == [4, None]
    (model,) = report.as_dict()["models"]
    assert (model["rate"], model["weighted_rate"]) == (0.5, 0.8)
    assert model["badge"]["n"] == 2
