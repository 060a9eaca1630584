"""What a mock answers: by template, by rule, by turns, by chance; and how it fails."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.executors import executor_of, tool
from toolspan_server import Executor
from toolspan_server.calls.caller import LOCAL
from toolspan_server.errors import RequestRefused

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.2")]


def mock(**implementation: Any) -> Executor:
    """An executor of one mock, ``m``."""
    return executor_of(tool("m", {"type": "mock", **implementation}))


async def results(executor: Executor, count: int, **arguments: Any) -> list[Any]:
    """The results of ``count`` calls, the code in place of a failed one's."""
    answers = [await executor.execute("m", arguments, LOCAL) for _ in range(count)]
    return [each.result if each.success else each.error_code for each in answers]


async def test_a_response_is_a_template_over_the_arguments_and_mock_response_is_not() -> None:
    written = {"at": "{{ city }}", "n": ["{{ days }}"], "same": "{{ arguments.days }}{{ call.number }}"}
    assert await results(mock(response=written), 2, city="Oslo", days=3) == [
        {"at": "Oslo", "n": [3], "same": "31"},
        {"at": "Oslo", "n": [3], "same": "32"},
    ]
    assert await results(mock(mock_response=written), 1) == [written]


async def test_a_template_without_its_value_fails_and_names_it() -> None:
    result = await mock(response="in {{ city.name }}").execute("m", {"city": "Oslo"}, LOCAL)
    assert (result.error_code, result.error) == ("missing_value", "'city.name' has no value here")


@pytest.mark.parametrize(
    ("when", "fits", "others"),
    [
        ({"x": 1}, [1, 1.0], [True, "1", None, [1]]),
        ({"x": {"equals": {"a": [1, True]}}}, [{"a": [1, True]}], [{"a": [1, 1]}, {"a": [1]}, {}]),
        ({"x": {"in": ["a", 2]}}, ["a", 2], ["b", 3, ["a"]]),
        ({"x": {"not": {"in": [1, 2]}}}, [3, "1"], [1, 2]),
        ({"x": {"regex": "/^san /i"}}, ["San José", "SAN "], ["Oslo san ", 1, None]),
        ({"x": {"gt": 1, "le": 3}}, [2, 3, 1.5], [1, 4, "2", True, None]),
        ({"x": {"ge": "2026-01-01", "lt": "2027"}}, ["2026-05-01"], ["2025-12-31", "2027-01-01", 2026]),
        ({"x": {"contains": "b"}}, ["abc", ["a", "b"]], ["ac", ["ab"], {"b": 1}, 1]),
        ({"x": {"exists": False}}, [...], [None, 0]),
        ({"x": {"exists": True}}, [None, 0], [...]),
        ({"x.y[0].z": "deep"}, [{"y": [{"z": "deep"}]}], [{"y": []}, "deep", {"y": {"z": "deep"}}]),
        ({}, [1, ...], []),
    ],
)
async def test_a_rule_answers_when_all_of_its_conditions_hold(
    when: dict[str, Any], fits: list[Any], others: list[Any]
) -> None:
    executor = mock(rules=[{"when": when, "mock_response": "rule"}], mock_response="other")
    for values, answer in ((fits, "rule"), (others, "other")):
        for value in values:
            arguments = {} if value is ... else {"x": value}
            assert await results(executor, 1, **arguments) == [answer], value


async def test_the_first_rule_that_holds_answers_and_without_any_the_mock_fails() -> None:
    rules = [{"when": {"x": {"gt": 1}}, "response": "many {{ x }}"}, {"when": {"x": 5}, "response": "five"}]
    assert await results(mock(rules=rules), 1, x=5) == ["many 5"]
    assert await results(mock(rules=rules), 1, x=0) == ["no_rule"]


async def test_a_sequence_answers_by_turns_and_each_rule_keeps_its_own() -> None:
    answers = [{"response": 1}, {"error": {"message": "no", "code": "busy"}}, {"response": 3}]
    assert await results(mock(sequence=answers), 5) == [1, "busy", 3, 3, 3]
    assert await results(mock(sequence=answers, then="cycle"), 5) == [1, "busy", 3, 1, "busy"]
    assert await results(mock(sequence=answers, then="fail"), 4) == [1, "busy", 3, "no_answer_left"]
    rules = [{"when": {"x": 1}, "sequence": answers}, {"when": {}, "sequence": answers}]
    executor = mock(rules=rules)
    assert [await results(executor, 1, x=x) for x in (1, 2, 2, 1)] == [[1], [1], ["busy"], ["busy"]]


async def test_chance_is_the_same_for_one_seed_and_heeds_the_weights() -> None:
    def drawn(seed: int) -> Executor:
        return mock(random={"seed": seed, "choices": [{"weight": 9, "response": 1}, {"response": 0}]})

    first = await results(drawn(1), 200)
    assert first == await results(drawn(1), 200) != await results(drawn(2), 200)
    assert 150 < sum(first) < 200


async def test_every_nth_call_fails_and_the_others_answer() -> None:
    failing = mock(fail_every=3, error={"message": "no {{ x }}", "code": "refused"}, response="{{ x }}")
    assert await results(failing, 6, x="a") == ["a", "a", "refused", "a", "a", "refused"]
    assert await results(mock(fail_every=2, sequence=[{"response": 1}]), 2) == [1, "execution_error"]


async def test_an_error_says_what_the_config_says() -> None:
    said = {"message": "{{ city }} is closed", "code": "closed", "user_action": "Try {{ other }}."}
    result = await mock(error=said).execute("m", {"city": "Oslo", "other": "Bergen"}, LOCAL)
    assert (result.error, result.error_code, result.user_action) == (
        "Oslo is closed",
        "closed",
        "Try Bergen.",
    )


async def test_a_protocol_error_refuses_the_request() -> None:
    executor = mock(protocol_error={"code": -32001, "message": "no {{ x }}", "data": {"x": "{{ x }}"}})
    with pytest.raises(RequestRefused) as refused:
        await executor.execute("m", {"x": 1}, LOCAL)
    assert (refused.value.code, refused.value.message, refused.value.data) == (-32001, "no 1", {"x": 1})


async def test_an_answer_takes_its_time() -> None:
    executor = mock(delay_ms=20, delay_max_ms=40, response=1)
    result = await executor.execute("m", {}, LOCAL)
    assert result.execution_time_ms >= 19
    late = executor_of(tool("m", {"type": "mock", "delay_ms": 3_600_000, "response": 1}, timeout_ms=20))
    assert (await late.execute("m", {}, LOCAL)).error_code == "timeout"
