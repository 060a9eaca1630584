"""Mocks that report, log and ask before they answer, with clients of both eras."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.asked_client import Again, Waiting, accepting, declining, in_rounds
from tests.support.executors import executor_of, registry_of, tool
from tests.support.talking import reached, talking
from toolspan_server import Context, Executor, load_config
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import InputRequired, Question
from toolspan_server.common.changes import Change
from toolspan_server.live.runtime import running

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.2.2")]

NAME_FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASK_NAME = {"elicitation": {"message": "Who are you, {{ title }}?", "requestedSchema": NAME_FORM}}
ASK_MODEL = {"sampling": {"messages": [{"role": "user", "content": {"type": "text", "text": "{{ title }}"}}]}}
COUNTED = {
    "type": "mock",
    "steps": [
        {"progress": {"progress": 1, "total": 3, "message": "for {{ title }}"}},
        {"ask": {"first": ASK_NAME}},
        {"progress": {"progress": 2}},
        {"ask": {"second": {**ASK_NAME, "elicitation": {"message": "{{ answers.first.content.name }}?"}}}},
        {"progress": {"progress": 3}},
    ],
    "response": "{{ answers.first.content.name }}, {{ answers.second.action }}, call {{ call.number }}",
}


def mock(**implementation: Any) -> Executor:
    return executor_of(tool("m", {"type": "mock", **implementation}))


def named(key: str, _question: Question) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": f"Ada {key}"}}


async def test_steps_are_taken_in_order_and_answers_can_be_used_at_once() -> None:
    client = Waiting(named)
    result = await executor_of(tool("m", COUNTED)).execute(
        "m", {"title": "Dr"}, Context(LOCAL, client=client)
    )
    assert result.result == "Ada first, accept, call 1"
    assert client.heard == [(1, 3, "for Dr"), (2, None, None), (3, None, None)]
    assert client.asked["first"].params == {"message": "Who are you, Dr?", "requestedSchema": NAME_FORM}
    assert client.asked["second"].params["message"] == "Ada first?"


async def test_a_call_that_is_made_again_does_nothing_twice() -> None:
    executor = executor_of(tool("m", COUNTED))
    heard: list[float] = []

    class Hearing(Again):
        async def progress(
            self, progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            heard.append(progress)

    answers: dict[str, Any] = {}
    memory: dict[str, Any] = {}
    for awaited in ("first", "second"):
        with pytest.raises(InputRequired) as required:
            await executor.execute("m", {"title": "Dr"}, Context(LOCAL, client=Hearing(answers, memory)))
        assert list(required.value.questions) == [awaited]
        answers[awaited] = named(awaited, required.value.questions[awaited])
    result = await executor.execute("m", {"title": "Dr"}, Context(LOCAL, client=Hearing(answers, memory)))
    assert (result.result, heard) == ("Ada first, accept, call 1", [1, 2, 3])
    assert memory == {}
    assert (await in_rounds(executor, "m", {"title": "x"}, named))[0].result.endswith("call 2")


async def test_questions_of_one_step_are_asked_together_and_only_those_whose_condition_holds() -> None:
    questions = {
        "name": {**ASK_NAME, "when": {"client.elicitation": True}},
        "model": {**ASK_MODEL, "when": {"title": "Dr"}},
        "roots": {"roots": True, "when": {"client.roots": False}},
    }
    executor = mock(steps=[{"ask": questions}], response="{{ answers }}")
    for title, asked in (("Dr", ["model", "name"]), ("Mr", ["name"])):
        result, rounds = await in_rounds(executor, "m", {"title": title})
        assert rounds == [asked]
        assert sorted(result.result) == asked


async def test_every_ability_gets_its_parameters() -> None:
    sampling = {**ASK_MODEL["sampling"], "maxTokens": 9, "systemPrompt": "Be {{ title }}"}
    visit = {"message": "Log in", "url": "https://example.com/{{ title }}"}
    questions = {"m": {"sampling": sampling}, "u": {"elicitation": visit}, "r": {"roots": True}}
    client = Waiting()
    await mock(steps=[{"ask": questions}]).execute("m", {"title": "a"}, Context(LOCAL, client=client))
    model, page, roots = client.asked["m"], client.asked["u"], client.asked["r"]
    content = {"type": "text", "text": "a"}
    assert model.params == {
        "messages": [{"role": "user", "content": content}],
        "maxTokens": 9,
        "systemPrompt": "Be a",
    }
    assert page.params.pop("elicitationId", None)  # type: ignore[attr-defined]  # a dict it is
    assert page.params == {"mode": "url", "message": "Log in", "url": "https://example.com/a"}
    assert (model.ability, page.ability, roots.ability) == ("sampling", "elicitation", "roots")


@pytest.mark.parametrize("answer", [accepting, declining])
async def test_what_happens_when_the_user_declines_can_be_said_in_two_ways(answer: Any) -> None:
    steps = [{"ask": {"sure": {"elicitation": {"message": "Sure?"}}}}, {"progress": {"progress": 1}}]
    client = Waiting(answer)
    declined = answer is declining
    by_key = mock(steps=steps, on_decline={"response": "no"}, response="yes")
    assert (await by_key.execute("m", {}, Context(LOCAL, client=client))).result == (
        "no" if declined else "yes"
    )
    assert len(client.heard) == (0 if declined else 1)
    rules = [{"when": {"answers.sure.action": {"not": {"equals": "accept"}}}, "response": "no"}]
    by_rule = mock(steps=steps, rules=rules, response="yes")
    assert (await by_rule.execute("m", {}, Context(LOCAL, client=client))).result == (
        "no" if declined else "yes"
    )


async def test_a_step_with_a_condition_that_does_not_hold_is_left_out() -> None:
    client = Waiting()
    steps = [{"progress": {"progress": 1}, "when": {"loud": True}}, {"progress": {"progress": 2}}]
    executor = mock(steps=steps)
    await executor.execute("m", {"loud": True}, Context(LOCAL, client=client))
    await executor.execute("m", {"loud": False}, Context(LOCAL, client=client))
    assert [progress for progress, *_ in client.heard] == [1, 2, 2]


async def test_a_call_that_failed_leaves_nothing_behind_for_the_next() -> None:
    client = Waiting(lambda _key, _question: {"action": "accept", "content": {}})
    steps = [{"progress": {"progress": 1}}, {"log": {"data": "{{ missing }}"}}]
    executor = mock(steps=steps)
    for _ in range(2):
        result = await executor.execute("m", {}, Context(LOCAL, client=client))
        assert result.error_code == "missing_value"
    assert len(client.heard) == 2
    assert client.memory == {}


def test_only_a_mock_that_uses_its_client_talks() -> None:
    plain = [{"mock_response": 1}, {"response": "{{ x }}"}, {"rules": [{"when": {"x": 1}, "response": 2}]}]
    talking_ones = [
        {"steps": [{"log": {"data": 1}}]},
        {"response": "{{ client.sampling }}"},
        {"rules": [{"when": {"client.roots": True}, "response": 2}]},
    ]
    for expected, implementations in ((False, plain), (True, talking_ones)):
        for each in implementations:
            (made,) = registry_of(tool("m", {"type": "mock", **each}))
            assert made.talks is expected


async def test_a_mock_can_say_that_a_list_changed(tmp_path: Any) -> None:
    path = tmp_path / "toolspan.json"
    changing = tool("m", {"type": "mock", "steps": [{"change": "prompts"}]})
    path.write_text(json.dumps({"tools": {"registry": [changing]}}))
    changes: list[Change] = []
    async with running(load_config(path)) as runtime:
        runtime.changes.subscribe(changes.append)
        await runtime.execute("m", {}, Context(LOCAL, client=Waiting()))
    assert changes == [Change("prompts")]


async def test_an_earlier_client_hears_and_answers_while_the_call_runs() -> None:
    steps = [
        {"log": {"level": "warning", "logger": "desk", "data": {"for": "{{ title }}"}}},
        {"ask": {"name": ASK_NAME}},
    ]
    implementation = {"type": "mock", "steps": steps, "response": "Hello {{ answers.name.content.name }}"}
    async with talking(tool("m", implementation)) as server, anyio.create_task_group() as tasks:
        session = await server.session({"elicitation": {}})
        reply = Reply()
        params = {"name": "m", "arguments": {"title": "Dr"}}
        tasks.start_soon(session.ask, "tools/call", params, 7, reply)
        logged, asked = await reached(reply, 2)
        assert logged["params"] == {"level": "warning", "logger": "desk", "data": {"for": "Dr"}}
        assert asked["method"] == "elicitation/create"
        answer = {"action": "accept", "content": {"name": "Ada"}}
        await session.post({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        final = (await reached(reply, 3))[-1]
    assert final["result"]["content"][0]["text"] == "Hello Ada"


async def test_a_modern_client_is_given_the_questions_and_calls_again() -> None:
    async with talking(tool("m", COUNTED)) as server:
        params: dict[str, Any] = {"arguments": {"title": "Dr"}}
        for awaited in ("first", "second"):
            required = (await server.call("m", params=params))["result"]
            assert (required["resultType"], list(required["inputRequests"])) == ("input_required", [awaited])
            answer = {"action": "accept", "content": {"name": "Ada"}}
            params |= {"inputResponses": {awaited: answer}, "requestState": required["requestState"]}
        final = (await server.call("m", params=params))["result"]
    assert final["content"][0]["text"] == "Ada, accept, call 1"
