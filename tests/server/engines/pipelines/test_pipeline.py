"""The kind ``pipeline``: steps, what they see of each other, and how they end."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.support.asked_client import Waiting, in_rounds
from tests.support.executors import builtin, executor_of, tool
from tests.support.waiting import BOUND_S
from toolspan_server import ConfigError, Context, Executor, ToolFailure, handler, load_config
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Question

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.6", "I4.4.1")]

CALLS: list[dict[str, Any]] = []
RUNNING: set[Any] = set()
MOST_RUNNING: list[int] = []
GATE: list[anyio.Event] = []


@handler("pipeline.give")
async def giving(arguments: dict[str, Any], context: Context) -> Any:
    CALLS.append(arguments)
    RUNNING.add(id(arguments))
    MOST_RUNNING.append(len(RUNNING))
    try:
        await (GATE[0].wait() if GATE else anyio.lowlevel.checkpoint())
    finally:
        RUNNING.discard(id(arguments))
    fail = arguments.get("fail")
    if fail is True or ("n" in arguments and arguments["n"] == fail):
        raise ToolFailure("no luck", error_code="unlucky", user_action="Try your luck.")
    return arguments.get("give", arguments)


@handler("pipeline.ask", talks=True)
async def asking(arguments: dict[str, Any], context: Context) -> Any:
    CALLS.append(arguments)
    await context.client.progress(1, 2)
    answers = await context.client.ask({"q": Question("elicitation", {"message": arguments["message"]})})
    context.client.memory["own"] = arguments["message"]
    return answers["q"]["content"]


@pytest.fixture(autouse=True)
def fresh() -> None:
    for each in (CALLS, RUNNING, MOST_RUNNING, GATE):
        each.clear()


GIVE = builtin("give", "pipeline.give")
ASK = builtin("ask", "pipeline.ask")


def pipeline(*steps: dict[str, Any], name: str = "p", **more: Any) -> dict[str, Any]:
    timeout = {"timeout_ms": more.pop("timeout_ms")} if "timeout_ms" in more else {}
    return tool(name, {"type": "pipeline", "steps": list(steps), **more}, **timeout)


def step(name: str, called: str = "give", **more: Any) -> dict[str, Any]:
    return {"id": name, "tool": called, **more}


async def result_of(*tools: dict[str, Any], **arguments: Any) -> Any:
    result = await executor_of(GIVE, ASK, *tools).execute("p", arguments, LOCAL)
    assert result.success, result
    return result.result


async def failure_of(*tools: dict[str, Any], **arguments: Any) -> Any:
    result = await executor_of(GIVE, ASK, *tools).execute("p", arguments, LOCAL)
    assert not result.success
    return result


async def test_a_step_sees_the_input_and_what_earlier_steps_gave() -> None:
    made = pipeline(
        step("one", arguments={"give": {"list": [1, {"x": "{{ a }}"}]}}),
        step("two", arguments={"give": "{{ steps.one.result.list[1].x }} and {{ input.a }}"}),
        result={"first": "{{ steps.one.result.list[0] }}", "second": "{{ steps.two.result }}", "same": [1]},
    )
    assert await result_of(made, a="A") == {"first": 1, "second": "A and A", "same": [1]}


async def test_without_a_result_the_last_steps_result_is_the_tools() -> None:
    assert await result_of(pipeline(step("a"), step("b", arguments={"give": 2}))) == 2
    assert await result_of(pipeline(step("a", arguments={"give": None}))) is None


async def test_a_step_whose_condition_does_not_hold_is_skipped() -> None:
    made = pipeline(
        step("a", arguments={"give": 1}),
        step("b", when={"steps.a.result": {"gt": 1}}),
        step("c", when={"steps.b.skipped": True, "n": 5}, arguments={"give": "ran"}),
        result="{{ steps }}",
    )
    steps = await result_of(made, n=5)
    assert steps["b"] == {"result": None, "error": None, "skipped": True}
    assert steps["c"]["result"] == "ran"
    assert len(CALLS) == 2


async def test_for_each_gives_the_results_in_the_items_order_and_runs_only_so_many_at_once() -> None:
    made = pipeline(
        step(
            "a",
            for_each="{{ list }}",
            concurrency=3,
            arguments={"give": ["{{ index }}", "{{ item }}", "{{ input.list[0] }}"]},
        )
    )
    assert await result_of(made, list=list("abcdefghij")) == [[n, c, "a"] for n, c in enumerate("abcdefghij")]
    assert max(MOST_RUNNING) == 3
    assert await result_of(made, list=[]) == []


@pytest.mark.parametrize("wrong", [5, "text", {"a": 1}, None])
async def test_for_each_over_what_is_no_list_fails(wrong: Any) -> None:
    failed = await failure_of(pipeline(step("a", for_each="{{ list }}")), list=wrong)
    assert failed.error == "step 'a' (tool 'give') failed: for_each is no list"


async def test_a_failed_step_names_itself_and_ends_the_pipeline() -> None:
    inner = pipeline(step("y", arguments={"fail": True}), name="inner")
    made = pipeline(step("x", "inner"), step("never"))
    failed = await failure_of(inner, made)
    assert failed.error == "step 'x' (tool 'inner') failed: step 'y' (tool 'give') failed: no luck"
    assert (failed.error_code, failed.user_action) == ("unlucky", "Try your luck.")
    assert len(CALLS) == 1


async def test_a_failed_item_names_its_place_and_ends_the_others() -> None:
    made = pipeline(step("x", for_each="{{ list }}", concurrency=2, arguments={"n": "{{ item }}", "fail": 1}))
    failed = await failure_of(made, list=[0, 1, 2, 3, 4, 5])
    assert failed.error == "step 'x' (tool 'give', item 1) failed: no luck"
    assert len(CALLS) < 6
    assert not RUNNING


async def test_arguments_that_a_template_cannot_fill_or_the_tool_does_not_take_fail_the_step() -> None:
    strict = builtin("strict", "pipeline.give", {"type": "object", "properties": {"n": {"type": "integer"}}})
    missing = await failure_of(pipeline(step("x", arguments={"n": "{{ nothing.here }}"})))
    assert missing.error.startswith("step 'x' (tool 'give') failed: 'nothing.here' has no value")
    wrong = await failure_of(strict, pipeline(step("x", "strict", arguments={"n": "{{ n }}"})), n="text")
    assert "'n' must be an integer" in wrong.error
    assert wrong.error_code == "invalid_parameters"
    unknown = await failure_of(pipeline(step("x", "gone")))
    assert unknown.error == "step 'x' (tool 'gone') failed: Tool 'gone' not found"


async def test_on_error_continue_gives_null_and_the_error() -> None:
    made = pipeline(
        step("x", on_error="continue", arguments={"fail": True}),
        step("l", for_each=[0, 1, 2], on_error="continue", arguments={"n": "{{ item }}", "fail": 1}),
        result="{{ steps }}",
    )
    steps = await result_of(made)
    assert steps["x"] == {"result": None, "error": "no luck", "skipped": False}
    assert steps["l"]["result"] == [{"n": 0, "fail": 1}, None, {"n": 2, "fail": 1}]
    assert steps["l"]["errors"] == ["no luck"]


async def test_on_error_skip_leaves_failed_items_out() -> None:
    made = pipeline(
        step("x", on_error="skip", arguments={"fail": True}),
        step("l", for_each=[0, 1, 2], on_error="skip", arguments={"n": "{{ item }}", "fail": 1}),
        result=["{{ steps.x.skipped }}", "{{ steps.l.result }}"],
    )
    assert await result_of(made) == [True, [{"n": 0, "fail": 1}, {"n": 2, "fail": 1}]]


async def test_pipelines_that_call_themselves_or_each_other_end() -> None:
    itself = await failure_of(pipeline(step("x", "p")))
    assert itself.error_code == "too_deep"
    assert itself.error.count("step 'x'") == 8
    other = pipeline(step("y", "p"), name="other")
    assert (await failure_of(other, pipeline(step("x", "other")))).error_code == "too_deep"


async def test_a_pipeline_makes_only_so_many_calls_those_inside_it_too() -> None:
    made = pipeline(step("x", for_each="{{ list }}", arguments={"give": 1}), max_calls=5)
    failed = await failure_of(made, list=[0] * 6)
    assert (failed.error_code, CALLS) == ("too_many_calls", [])
    assert failed.error.startswith("step 'x' (tool 'give') failed: it needs 6 more calls")
    inner = pipeline(step("y", for_each=[1, 2, 3], arguments={"give": 1}), name="inner")
    outer = pipeline(step("x", "inner", for_each=[1, 2], concurrency=1), max_calls=7)
    assert (await failure_of(inner, outer)).error_code == "too_many_calls"
    assert len(CALLS) == 3
    assert await result_of(
        inner, {**outer, "implementation": {**outer["implementation"], "max_calls": 8}}
    ) == [
        [1, 1, 1],
        [1, 1, 1],
    ]


async def test_cancelling_a_pipeline_stops_all_running_steps() -> None:
    GATE.append(anyio.Event())
    executor = executor_of(GIVE, pipeline(step("x", for_each=[1, 2, 3], arguments={"n": "{{ item }}"})))
    task = asyncio.create_task(executor.execute("p", {}, LOCAL))
    await anyio.wait_all_tasks_blocked()
    assert len(RUNNING) == 3
    task.cancel()
    await asyncio.wait([task], timeout=BOUND_S)
    assert task.cancelled()
    assert not RUNNING


async def test_the_pipelines_time_out_stops_all_running_steps() -> None:
    GATE.append(anyio.Event())
    failed = await failure_of(pipeline(step("x", for_each=[1, 2], arguments={}), timeout_ms=30))
    assert (failed.error_code, RUNNING) == ("timeout", set())


def talks(*tools: dict[str, Any]) -> bool:
    found = executor_of(GIVE, ASK, *tools).registry.get("p")
    assert found is not None
    return found.talks


async def test_a_pipeline_talks_when_a_tool_that_it_calls_does() -> None:
    assert talks(pipeline(step("x"))) is False
    assert talks(pipeline(step("x"), step("y", "ask"))) is True
    assert talks(pipeline(step("y", "ask"), name="inner"), pipeline(step("x", "inner"))) is True
    assert talks(builtin("a", "pipeline.give", approval=True), pipeline(step("x", "a"))) is True
    assert talks(pipeline(step("x", "p"), step("y", "gone"))) is False


def saying(key: str, question: Question) -> dict[str, Any]:
    return {"action": "accept", "content": f"answer to {question.params['message']}"}


TALK = pipeline(
    step("before", arguments={"give": 1}),
    step("first", "ask", arguments={"message": "one"}),
    step("many", "ask", for_each=["a", "b", "c"], concurrency=2, arguments={"message": "{{ item }}"}),
    step("after", arguments={"give": "{{ steps.many.result }}"}),
    result=["{{ steps.first.result }}", "{{ steps.after.result }}"],
)
SAID = ["answer to one", ["answer to a", "answer to b", "answer to c"]]


async def test_where_the_call_is_made_again_no_step_that_is_done_runs_again() -> None:
    executor = executor_of(GIVE, ASK, TALK)
    result, rounds = await in_rounds(executor, "p", {}, saying)
    assert result.result == SAID
    assert rounds == [["first.q"], ["many/0.q", "many/1.q"], ["many/2.q"]]
    assert sum(call == {"give": 1} for call in CALLS) == 1
    assert sum(call.get("message") == "one" for call in CALLS) == 2  # it asked, and had the answer


async def test_pipelines_inside_are_remembered_too() -> None:
    outer = pipeline(step("x", "p"), step("y", "ask", arguments={"message": "last"}), name="outer")
    result, rounds = await in_rounds(executor_of(GIVE, ASK, TALK, outer), "outer", {}, saying)
    assert result.result == "answer to last"
    assert rounds == [["x.first.q"], ["x.many/0.q", "x.many/1.q"], ["x.many/2.q"], ["y.q"]]
    assert sum(call == {"give": 1} for call in CALLS) == 1


async def test_where_the_client_answers_at_once_the_steps_ask_at_the_same_time() -> None:
    client = Waiting(saying)
    executor = executor_of(GIVE, ASK, TALK)
    result = await executor.execute("p", {}, Context(LOCAL, client=client))
    assert result.result == SAID
    assert sorted(client.asked) == ["first.q", "many/0.q", "many/1.q", "many/2.q"]
    assert client.memory == {}
    done = [progress for progress, _, _ in client.heard]
    assert done == sorted(done)
    assert {total for _, total, _ in client.heard} == {4}
    assert done[:4] == [1, 1.5, 2, 3]


async def test_faults_of_a_pipeline_are_found_when_it_is_loaded(tmp_path: Any) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        """
tools:
  registry:
    - name: p
      description: d
      implementation:
        type: pipeline
        steps:
          - {id: a, tool: p, arguments: {x: "{{ steps.b.result }}", y: "{{ item }}"}}
          - {id: a, tool: pp, when: {steps.a.reslt: 1}, for_each: text}
          - {id: c, tool: p, arguments: {x: "{{ open"}}
        result: "{{ steps.d.result }}"
""",
        "utf-8",
    )
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    told = str(raised.value)
    assert "steps[1].for_each: is a text and no template" in told
    assert "steps[2].arguments.x: '{{' is not closed by '}}'" in told
    path.write_text(path.read_text().replace("for_each: text", "").replace("{{ open", "open"), "utf-8")
    with pytest.raises(ConfigError) as raised:
        load_config(path)
    told = str(raised.value)
    for fault in (
        "steps[0].arguments.x: there is no step 'b' before",
        "steps[0].arguments.y: 'item' is only there with for_each",
        "steps[1].id: there is another step 'a'",
        "steps[1].when[\"steps.a.reslt\"]: a step has no 'reslt' (did you mean 'result'?)",
        "steps[1].tool: unknown tool 'pp'",
        "implementation.result: there is no step 'd' before",
    ):
        assert fault in told


def test_an_executor_runs_pipelines_over_the_tools_that_are_there_at_the_time() -> None:
    registry = executor_of(GIVE, pipeline(step("x", "late", arguments={"give": 7}))).registry
    executor = Executor(registry)
    assert asyncio.run(executor.execute("p", {}, LOCAL)).success is False
    late = executor_of(builtin("late", "pipeline.give")).registry.get("late")
    assert late is not None
    registry.offer(0, [late])
    assert asyncio.run(executor.execute("p", {}, LOCAL)).result == 7
