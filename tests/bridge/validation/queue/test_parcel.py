"""What is put on a queue is data: the same suites come out of it, each trial is in one job."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.queues import parcel_for, plan_of
from toolspan_bridge.errors import StoreError, UsageError
from toolspan_bridge.validation import default_suite, load_suite
from toolspan_bridge.validation.queue.connection import opened_queue, queue_place
from toolspan_bridge.validation.queue.parcel import Batch, PackedSuite, Parcel, batches
from toolspan_bridge.validation.runs.plan import hash_of_suite

EVERY_FORM = """
scenarios:
  - query: Any form of an answer
    expect:
      answer: [text, {contains: part}, {matches: "a+"}, {number: {value: 6.75, within: 0.01}},
               {json: {path: $.total, is: {range: {min: 1}}}}]
  - turns:
      - {query: Weather?, expect: {calls: [{tool: weather, arguments: {city: {one_of: [Oslo, oslo]}}}]}}
      - {query: Thanks, expect: {no_calls: true}}
    messages: [{role: user, content: Hello}]
    mocks: {weather: {response: {sky: clear}}}
    approvals: {weather: deny}
    weight: 2
"""


@pytest.mark.requirement("I14.2.84")
def test_a_suite_comes_out_of_its_data_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "forms.yaml").write_text(EVERY_FORM)
    for suite in (default_suite(), load_suite(tmp_path / "forms.yaml")):
        packed = PackedSuite.model_validate_json(PackedSuite.of(suite).model_dump_json())
        assert hash_of_suite(packed.suite) == hash_of_suite(suite)
        assert packed.suite.name == suite.name


@pytest.mark.requirement("I14.2.80")
@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 3), st.randoms())
def test_each_missing_trial_is_in_one_job_of_its_model(
    scenarios: int, trials: int, models: int, dice: Random
) -> None:
    plan = plan_of(scenarios, trials, tuple(f"near/{each}" for each in range(models)))
    done = frozenset(number for number in range(1, len(plan) + 1) if dice.random() < 0.3)
    jobs = list(batches("run", plan, done))
    numbers = [number for _, batch in jobs for number in batch.numbers]
    assert sorted(numbers) == sorted(set(range(1, len(plan) + 1)) - done)
    for lane, batch in jobs:
        model = plan.models[int(lane.rpartition("/")[2])]
        assert {plan.cell(number).model for number in batch.numbers} == {model}


@pytest.mark.requirement("I14.2.84")
def test_a_job_with_anything_else_is_not_taken() -> None:
    data: list[dict[str, Any]] = [
        {"run": "r", "numbers": [1], "command": "rm"},
        {"run": "r", "numbers": []},
        {"run": "r", "numbers": ["x"]},
        {"run": "r", "numbers": list(range(1_000))},
    ]
    for wrong in data:
        with pytest.raises(ValidationError):
            Batch.model_validate(wrong)
    with pytest.raises(StoreError, match="cannot be read: tools"):
        Parcel.read('{"suites": [], "timeout": 1, "fingerprints": {}}')


@pytest.mark.requirement("I14.2.84")
def test_a_plan_of_other_suites_than_the_runs_is_not_taken() -> None:
    contents = {**plan_of(3, 2).contents}
    with pytest.raises(StoreError, match="not those of the run"):
        parcel_for(plan_of(2, 2)).plan(contents)


@pytest.mark.requirement("I14.2.85")
def test_a_queue_is_named_without_its_password() -> None:
    place = queue_place("postgresql://me:s3cret@db.example/queue")
    assert place.shown == "postgresql://me:***@db.example/queue"
    with pytest.raises(UsageError, match="a queue is in PostgreSQL"):
        queue_place("sqlite:///queue.sqlite3")


@pytest.mark.requirement("I14.2.80")
@pytest.mark.anyio
async def test_without_the_packages_it_is_said_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "procrastinate", None)
    with pytest.raises(UsageError, match=r"pip install 'toolspan\[queue\]'"):
        async with opened_queue("postgresql://nobody@127.0.0.1:1/none"):
            raise AssertionError("it was opened")
