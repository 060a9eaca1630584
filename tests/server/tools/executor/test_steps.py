"""What a tool's config puts around its calls: output schema, cache, rate limit, approval."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.asked_client import Waiting, accepting, declining, in_rounds
from tests.support.executors import builtin, executor_of, tool
from tests.support.waiting import BOUND_S
from toolspan_server import Context, ToolFailure, handler
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Question
from toolspan_server.calls.content import Content
from toolspan_server.config.models.tool_options import CacheConfig, RateLimitConfig
from toolspan_server.tools.executor.steps.cache import cached
from toolspan_server.tools.executor.steps.rate_limit import Bucket, rate_limited

pytestmark = pytest.mark.anyio

READ_ONLY = {"annotations": {"read_only": True}}
RUNS: list[dict[str, Any]] = []
GATES: dict[str, anyio.Event] = {}


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@handler("steps.count")
async def counting(arguments: dict[str, Any], context: Context) -> Any:
    RUNS.append(arguments)
    if (gate := GATES.get(arguments.get("gate", ""))) is not None:
        await gate.wait()
    if arguments.get("fail"):
        raise ToolFailure("it failed")
    return {"run": len(RUNS), **arguments}


@handler("steps.ask", talks=True)
async def asking(arguments: dict[str, Any], context: Context) -> Any:
    RUNS.append(arguments)
    answers = await context.client.ask({"who": Question("elicitation", {"message": "Who?"})})
    return answers["who"]


@handler("steps.content")
async def giving_content(arguments: dict[str, Any], context: Context) -> Any:
    RUNS.append(arguments)
    return Content(({"type": "text", "text": "hello"},), *arguments.get("structured", ()), meta={"m": 1})


@pytest.fixture(autouse=True)
def fresh() -> None:
    RUNS.clear()
    GATES.clear()


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}},
    "required": ["a"],
}


@pytest.mark.requirement("I4.2.1")
@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"a": {"b": "x"}}, "'a.b' must be an integer (got a string)"),
        ({}, "missing 'a'"),
        ([1], "must be an object (got an array)"),
        ("text", "must be an object (got a string)"),
    ],
)
async def test_a_result_that_does_not_fit_the_output_schema_is_a_failure_that_names_the_field(
    result: Any, told: str
) -> None:
    executor = executor_of(tool("x", {"type": "mock", "mock_response": result}, output_schema=SCHEMA))
    failed = await executor.execute("x", {}, LOCAL)
    assert (failed.success, failed.error_code) == (False, "invalid_result")
    assert told in failed.error


@pytest.mark.requirement("I4.2.1")
async def test_a_result_that_fits_the_output_schema_is_given_as_it_is() -> None:
    executor = executor_of(
        tool("x", {"type": "mock", "mock_response": {"a": {"b": 1}}}, output_schema=SCHEMA)
    )
    assert (await executor.execute("x", {}, LOCAL)).result == {"a": {"b": 1}}


@pytest.mark.requirement("I4.2.1")
async def test_an_unknown_key_of_a_result_and_a_result_that_was_cut_are_failures_too() -> None:
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    executor = executor_of(
        tool("closed", {"type": "mock", "mock_response": {"z": 1}}, output_schema=closed),
        tool(
            "large", {"type": "mock", "mock_response": {"a": "x" * 5_000}}, output_schema={"type": "object"}
        ),
        max_result_bytes=2_000,
    )
    assert "unknown key 'z'" in (await executor.execute("closed", {}, LOCAL)).error
    assert (await executor.execute("large", {}, LOCAL)).error_code == "invalid_result"


@pytest.mark.requirement("I4.2.1")
async def test_of_content_what_is_structured_is_held_to_the_output_schema() -> None:
    executor = executor_of(builtin("x", "steps.content", output_schema=SCHEMA))
    good = await executor.execute("x", {"structured": [{"a": {"b": 1}}]}, LOCAL)
    assert (good.success, good.result) == (True, {"a": {"b": 1}})
    missing = await executor.execute("x", {}, LOCAL)
    assert "content without structured data" in missing.error


@pytest.mark.requirement("I4.2.1")
async def test_equal_arguments_get_the_kept_result_and_nobody_can_change_what_is_kept() -> None:
    executor = executor_of(builtin("x", "steps.count", cache={"ttl_ms": 60_000}, **READ_ONLY))
    first = await executor.execute("x", {"a": 1, "b": [2]}, LOCAL)
    first.result["b"].append("changed")
    second = await executor.execute("x", {"b": [2], "a": 1}, LOCAL)
    assert second.result == {"run": 1, "a": 1, "b": [2]}
    assert (await executor.execute("x", {"a": True, "b": [2]}, LOCAL)).result["run"] == 2
    assert len(RUNS) == 2


@pytest.mark.requirement("I4.2.1")
async def test_content_is_kept_whole() -> None:
    executor = executor_of(builtin("x", "steps.content", cache={"ttl_ms": 60_000}, **READ_ONLY))
    for arguments in ({}, {"structured": [None]}):
        first, second = [await executor.execute("x", arguments, LOCAL) for _ in range(2)]
        assert (first.content, first.has_value, first.meta) == (second.content, second.has_value, second.meta)
    assert len(RUNS) == 2


@pytest.mark.requirement("I4.2.1")
async def test_a_failure_is_not_kept() -> None:
    executor = executor_of(builtin("x", "steps.count", cache={"ttl_ms": 60_000}, **READ_ONLY))
    for _ in range(2):
        assert (await executor.execute("x", {"fail": True}, LOCAL)).success is False
    assert len(RUNS) == 2


@pytest.mark.requirement("I4.2.1")
async def test_equal_calls_at_the_same_time_run_once() -> None:
    GATES["g"] = anyio.Event()
    executor = executor_of(builtin("x", "steps.count", cache={"ttl_ms": 60_000}, **READ_ONLY))
    tasks = [asyncio.create_task(executor.execute("x", {"gate": "g"}, LOCAL)) for _ in range(20)]
    await anyio.wait_all_tasks_blocked()
    GATES["g"].set()
    results = await asyncio.wait_for(asyncio.gather(*tasks), BOUND_S)
    assert {result.result["run"] for result in results} == {1}


@pytest.mark.requirement("I4.2.1")
async def test_when_the_call_that_runs_for_others_is_cancelled_the_next_one_runs() -> None:
    GATES["g"] = anyio.Event()
    executor = executor_of(builtin("x", "steps.count", cache={"ttl_ms": 60_000}, **READ_ONLY))
    leader, *others = [asyncio.create_task(executor.execute("x", {"gate": "g"}, LOCAL)) for _ in range(5)]
    await anyio.wait_all_tasks_blocked()
    leader.cancel()
    others[0].cancel()
    await anyio.wait_all_tasks_blocked()
    assert len(RUNS) == 2
    GATES["g"].set()
    results = await asyncio.wait_for(asyncio.gather(*others[1:]), BOUND_S)
    assert {result.result["run"] for result in results} == {2}


def _keeping(clock: Clock, **bounds: Any) -> Any:
    async def run(arguments: dict[str, Any], context: Context) -> Any:
        RUNS.append(arguments)
        return "x" * arguments.get("size", 1)

    return cached(run, CacheConfig(ttl_ms=1_000, **bounds), talks=False, now=clock)


@pytest.mark.requirement("I4.2.1")
async def test_a_kept_result_ends_with_its_time() -> None:
    clock = Clock()
    step = _keeping(clock)
    for later, runs in ((0, 1), (0.999, 1), (0.002, 2)):
        clock.time += later
        await step({}, Context(LOCAL))
        assert len(RUNS) == runs


@pytest.mark.requirement("I4.2.1")
async def test_the_cache_keeps_within_entries_and_bytes_what_was_used_last() -> None:
    step = _keeping(Clock(), max_entries=2)
    for name in ("a", "b", "a", "c", "a"):
        await step({"n": name}, Context(LOCAL))
    assert [run["n"] for run in RUNS] == ["a", "b", "c"]
    await step({"n": "b"}, Context(LOCAL))
    assert RUNS[-1] == {"n": "b"}
    RUNS.clear()
    step = _keeping(Clock(), max_bytes=1_024)
    for size in (2_000, 2_000, 500, 501, 500):
        await step({"size": size}, Context(LOCAL))
    assert [run["size"] for run in RUNS] == [2_000, 2_000, 500, 501, 500]


@pytest.mark.requirement("I4.2.1")
async def test_what_came_of_asking_one_client_is_not_given_to_another() -> None:
    executor = executor_of(builtin("x", "steps.ask", cache={"ttl_ms": 60_000}, **READ_ONLY))
    assert executor.registry.get("x").talks is True  # type: ignore[union-attr]
    for action in (accepting, declining):
        result = await executor.execute("x", {}, Context(LOCAL, client=Waiting(action)))
        assert result.result == action("", Question("elicitation"))


@pytest.mark.requirement("I4.2.1")
async def test_calls_beyond_the_rate_limit_are_refused_and_told_when_to_try_again() -> None:
    executor = executor_of(builtin("x", "steps.count", rate_limit={"calls": 2, "per_ms": 60_000}))
    assert [(await executor.execute("x", {}, LOCAL)).success for _ in range(3)] == [True, True, False]
    refused = await executor.execute("x", {}, LOCAL)
    assert (refused.error_code, refused.error) == (
        "rate_limited",
        "The tool may be called 2 times in 60 seconds, and was",
    )
    assert refused.user_action == "Try again in 30 seconds."
    assert len(RUNS) == 2


@pytest.mark.requirement("I4.2.1")
@given(
    calls=st.integers(1, 20),
    burst=st.one_of(st.none(), st.integers(1, 30)),
    waits=st.lists(st.floats(0, 3), max_size=60),
)
def test_in_no_time_more_run_than_the_burst_and_what_came_in_since(
    calls: int, burst: int | None, waits: list[float]
) -> None:
    clock, ran = Clock(), 0

    async def run(arguments: dict[str, Any], context: Context) -> None:
        nonlocal ran
        ran += 1

    limit = RateLimitConfig(calls=calls, per_ms=1_000, burst=burst)
    step = rate_limited(run, limit, Bucket(limit, clock))

    async def all_calls() -> None:
        for wait in waits:
            clock.time += wait
            try:
                await step({}, Context(LOCAL))
            except ToolFailure as refused:
                assert refused.error_code == "rate_limited"
            assert ran <= (burst or calls) + calls * (clock.time - 100) + 1e-6

    asyncio.run(all_calls())


@pytest.mark.requirement("I4.2.1")
async def test_after_a_quiet_time_no_more_than_the_burst_run_at_once() -> None:
    clock = Clock()

    async def run(arguments: dict[str, Any], context: Context) -> None:
        RUNS.append(arguments)

    limit = RateLimitConfig(calls=2, per_ms=1_000, burst=3)
    step = rate_limited(run, limit, Bucket(limit, clock))
    clock.time += 3_600
    for _ in range(10):
        with contextlib.suppress(ToolFailure):
            await step({}, Context(LOCAL))
    assert len(RUNS) == 3


@pytest.mark.requirement("I4.2.1")
async def test_a_kept_result_and_a_round_of_questions_do_not_count_for_the_rate_limit() -> None:
    limited = {"rate_limit": {"calls": 1, "per_ms": 3_600_000}, **READ_ONLY}
    executor = executor_of(
        builtin("kept", "steps.count", cache={"ttl_ms": 60_000}, **limited),
        builtin("ask", "steps.ask", **limited),
    )
    assert all([(await executor.execute("kept", {}, LOCAL)).success for _ in range(3)])
    result, rounds = await in_rounds(executor, "ask", {})
    assert (result.success, len(rounds)) == (True, 1)
    assert (await executor.execute("ask", {}, LOCAL)).error_code == "rate_limited"


APPROVED: dict[str, Any] = {"approval": {"message": "Delete {{ path }}?"}}


@pytest.mark.requirement("I4.2.1")
async def test_a_tool_with_approval_runs_once_the_person_accepts() -> None:
    executor = executor_of(builtin("x", "steps.count", **APPROVED))
    client = Waiting()
    result = await executor.execute("x", {"path": "/a"}, Context(LOCAL, client=client))
    assert (result.success, len(RUNS)) == (True, 1)
    [question] = client.asked.values()
    assert question.ability == "elicitation"
    assert question.params["message"] == 'Delete /a?\n  arguments:\n    {\n      "path": "/a"\n    }'
    assert executor.registry.get("x").talks is True  # type: ignore[union-attr]


@pytest.mark.requirement("I4.2.1")
@pytest.mark.parametrize("action", ["decline", "cancel", "nonsense", None])
async def test_a_call_that_the_person_does_not_accept_never_starts(action: str | None) -> None:
    executor = executor_of(builtin("x", "steps.count", **APPROVED))
    client = Waiting(lambda _key, _question: {"action": action})
    result = await executor.execute("x", {"path": "/a"}, Context(LOCAL, client=client))
    assert (result.error_code, RUNS) == ("denied", [])


@pytest.mark.requirement("I4.2.1")
async def test_without_a_client_that_can_ask_a_person_the_tool_never_starts() -> None:
    executor = executor_of(builtin("x", "steps.count", approval=True))
    result = await executor.execute("x", {}, LOCAL)
    assert (result.error_code, RUNS) == ("approval_required", [])


class Silent(Waiting):
    async def ask(self, questions: Any) -> dict[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError


@pytest.mark.requirement("I4.2.1")
async def test_an_answer_that_does_not_come_is_a_no_after_its_own_time_not_the_tools() -> None:
    executor = executor_of(
        builtin("silent", "steps.count", approval={"timeout_ms": 30}, timeout_ms=3_600_000),
        builtin("slow", "steps.count", approval={"timeout_ms": 60_000}, timeout_ms=1_000),
    )
    silent = await asyncio.wait_for(executor.execute("silent", {}, Context(LOCAL, client=Silent())), BOUND_S)
    assert (silent.error_code, RUNS) == ("denied", [])

    class Slow(Waiting):
        async def ask(self, questions: Any) -> dict[str, Any]:
            await anyio.sleep(1.1)
            return await super().ask(questions)

    assert (await executor.execute("slow", {}, Context(LOCAL, client=Slow()))).success is True


@pytest.mark.requirement("I4.2.1")
async def test_where_the_call_is_made_again_the_person_is_asked_once() -> None:
    executor = executor_of(builtin("x", "steps.ask", approval=True))
    result, rounds = await in_rounds(executor, "x", {"a": 1})
    assert result.success is True
    assert [len(asked) for asked in rounds] == [1, 1]
    assert rounds[0][0].startswith("approve-")
    declined, _ = await in_rounds(executor, "x", {}, declining)
    assert declined.error_code == "denied"


@pytest.mark.requirement("I4.2.1", "I24.2.1")
@pytest.mark.parametrize("approval", [True, {"message": "Delete {{ path }}?"}], ids=["own words", "message"])
async def test_the_question_shows_every_argument_whole_whatever_the_config_words_it(approval: Any) -> None:
    executor = executor_of(builtin("x", "steps.count", title="Remove a file", approval=approval))
    client = Waiting()
    arguments = {"path": "/a" * 300 + "MIDDLE" + "/b" * 300, "note": "a\u202eb"}
    await executor.execute("x", arguments, Context(LOCAL, client=client))
    [question] = client.asked.values()
    message = question.params["message"]
    shown = json.loads(message[message.index("{") :].replace("\n    ", "\n")) if approval is True else {}
    assert "MIDDLE" in message and "/b" * 300 in message and "…" not in message
    assert "\\u202e" in message and "\u202e" not in message
    assert shown == (arguments if approval is True else {})


@pytest.mark.requirement("I24.2.1")
async def test_a_call_that_is_too_long_to_be_shown_is_refused_and_nobody_is_asked() -> None:
    executor = executor_of(builtin("x", "steps.count", approval=True))
    client = Waiting()
    result = await executor.execute("x", {"path": "/a" * 30_000}, Context(LOCAL, client=client))
    assert (result.error_code, client.asked, RUNS) == ("too_long_to_show", {}, [])
    assert "60," in (result.error or "") and "at most 50,000" in (result.error or "")
