"""Calls that go round in circles, and arguments that never fit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.local_tools import Performed, answered, box, events_of, outcomes, turn
from toolspan_bridge import Conversation, Question, Scripted

pytestmark = pytest.mark.anyio

A, B, C, D = (("look", {"at": name}) for name in "abcd")


async def codes(*calls: Any, look: Performed | None = None) -> list[Any]:
    talk = Conversation()
    turns = [*(turn(*(each if isinstance(each, list) else [each])) for each in calls), {"text": "done"}]
    await events_of(
        Question("?", "m", max_iterations=30), Scripted(turns), box(look or Performed("look")), talk
    )
    return [outcome.result.get("error_code") for outcome in outcomes(talk)]


@pytest.mark.requirement("I12.5.15")
@pytest.mark.parametrize(
    ("calls", "stopped"),
    [
        ([A, A, A], [2]),
        ([A, B, A, B, A, B], [4, 5]),
        ([A, B, C, A, B, C, A], [6]),
        ([D, A, B, A, B, A], [5]),
        ([[A, B], [A, B], [A]], [4]),
        ([[A, A, A]], [2]),
        ([A, B, A, C, A, D, A], []),
        ([A, A, B, A, A, B], []),
    ],
)
async def test_a_third_round_of_up_to_three_calls_is_stopped(calls: list[Any], stopped: list[int]) -> None:
    found = await codes(*calls)
    assert [at for at, code in enumerate(found) if code == "repeated_call"] == stopped


@pytest.mark.requirement("I12.5.15")
async def test_asking_for_a_status_that_changes_is_no_circle() -> None:
    states = iter(range(9))

    async def status(call: Any) -> Any:
        return {"done": next(states)}

    assert await codes(*[A] * 9, look=Performed("look", status)) == [None] * 9


@pytest.mark.requirement("I12.5.15")
async def test_after_something_else_the_same_call_is_made_again() -> None:
    assert await codes(A, A, A, B, A) == [None, None, "repeated_call", None, None]


@pytest.mark.requirement("I12.5.15")
async def test_a_model_that_only_repeats_itself_has_to_answer() -> None:
    provider = Scripted([*[turn(A)] * 7, {"text": "I give up."}])
    told = answered(await events_of(Question("?", "m", max_iterations=30), provider, box(Performed("look"))))
    assert (told.content, told.repeated_calls_stopped) == ("I give up.", True)
    assert provider.requests[-1].tool_choice == "none"


STRICT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.requirement("I12.5.16")
@pytest.mark.parametrize(("attempts", "turns"), [(0, 1), (2, 3)])
@pytest.mark.parametrize("bad", [{"n": "x"}, "[1, 2", {}])
async def test_a_model_may_correct_its_arguments_so_many_times(attempts: int, turns: int, bad: Any) -> None:
    wrong = [{"calls": [{"tool": "count", "arguments": bad}]}] * turns
    count, talk = Performed("count", schema=STRICT), Conversation()
    provider = Scripted([*wrong, {"text": "I cannot."}])
    told = answered(await events_of(Question("?", "m", repair_attempts=attempts), provider, box(count), talk))
    assert (told.content, told.stop, told.limit) == ("I cannot.", "limit", "repair_attempts")
    assert "tools.repair_attempts" in told.reason
    assert len(provider.requests) == turns + 1 and count.calls == []


@pytest.mark.requirement("I12.5.16")
async def test_arguments_that_are_corrected_in_time_are_used() -> None:
    count = Performed("count", schema=STRICT)
    turns = [turn(("count", {"n": "x"})), turn(("count", {"n": 1})), {"text": "done"}]
    told = answered(await events_of(Question("?", "m", repair_attempts=1), Scripted(turns), box(count)))
    assert (told.stop, count.calls) == ("end", [{"n": 1}])
