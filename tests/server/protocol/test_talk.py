"""Tools that report, log and ask while they run, in both eras, over the real endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.talking import Session, Talking, reached, talking, tool
from tests.support.waiting import BOUND_S
from toolspan_server.calls.client import Question
from toolspan_server.calls.context import Context
from toolspan_server.errors import ToolFailure

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.3", "I4.4.1")]

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NAME = Question("elicitation", {"message": "Your name?", "requestedSchema": NAMED})
CAPITAL = Question("sampling", {"messages": [], "maxTokens": 10})
ALICE = {"action": "accept", "content": {"name": "Alice"}}
PARIS = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}}
STATE = "Invalid or expired requestState"


async def greet(_arguments: Mapping[str, Any], context: Context) -> str:
    answers = await context.client.ask({"who": NAME})
    return f"Hello, {answers['who'].get('content', {}).get('name', answers['who']['action'])}!"


async def two_steps(_arguments: Mapping[str, Any], context: Context) -> Any:
    client = context.client
    client.memory["runs"] = client.memory.get("runs", 0) + 1
    name = (await client.ask({"who": NAME}))["who"]["content"]["name"]
    client.memory.setdefault("seen", []).append(name)
    capital = (await client.ask({"what": CAPITAL}))["what"]["content"]["text"]
    return [name, capital, dict(client.memory)]


async def many_sorts(_arguments: Mapping[str, Any], context: Context) -> Any:
    answers = await context.client.ask({"who": NAME, "what": CAPITAL, "roots": Question("roots")})
    return {key: dict(answer) for key, answer in answers.items()}


async def chatty(_arguments: Mapping[str, Any], context: Context) -> str:
    for step in (0, 50, 50, 100):
        await context.client.progress(step, 100, f"at {step}")
    for level in ("debug", "info", "error"):
        await context.client.log(level, {"said": level}, "tests")
    return "done"


TOOLS = (
    tool("greet", greet),
    tool("two_steps", two_steps),
    tool("many_sorts", many_sorts),
    tool("chatty", chatty),
)


def answering(asked: Mapping[str, Any], **answers: Any) -> dict[str, Any]:
    """The parameters of the next round."""
    return {"requestState": asked["result"]["requestState"], "inputResponses": answers}


async def test_a_question_ends_the_request_and_its_answer_comes_with_the_next_one() -> None:
    async with talking(*TOOLS) as server:
        asked = await server.call("greet")
        assert asked["result"]["resultType"] == "input_required"
        assert asked["result"]["inputRequests"]["who"]["method"] == "elicitation/create"
        assert "Your name?" in str(asked["result"]["inputRequests"]["who"]["params"])
        told = await server.call("greet", params=answering(asked, who=ALICE))
    assert told["result"]["resultType"] == "complete"
    assert told["result"]["content"][0]["text"] == "Hello, Alice!"


async def test_earlier_answers_and_the_memory_travel_in_the_state() -> None:
    async with talking(*TOOLS) as server:
        first = await server.call("two_steps")
        second = await server.call("two_steps", params=answering(first, who=ALICE))
        assert list(second["result"]["inputRequests"]) == ["what"]
        third = await server.call("two_steps", params=answering(second, what=PARIS))
    name, capital, memory = third["result"]["structuredContent"]
    assert (name, capital) == ("Alice", "Paris")
    assert memory == {"runs": 3, "seen": ["Alice", "Alice"]}


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"other": ALICE},
        {"who": {"action": "accept", "content": {"name": 5}}},
        {"who": {"action": "accept", "content": {}}},
        {"who": PARIS},
    ],
    ids=["none", "another's", "of the wrong type", "incomplete", "of another question"],
)
async def test_what_is_not_answered_rightly_is_asked_again(answers: dict[str, Any]) -> None:
    async with talking(*TOOLS) as server:
        asked = await server.call("greet")
        again = await server.call("greet", params=answering(asked, **answers))
    assert again["result"]["resultType"] == "input_required"
    assert list(again["result"]["inputRequests"]) == ["who"]


async def test_answers_to_nothing_are_ignored_and_refusals_reach_the_tool() -> None:
    async with talking(*TOOLS) as server:
        asked = await server.call("greet")
        declined = await server.call("greet", params=answering(asked, who={"action": "decline"}, more=PARIS))
    assert declined["result"]["content"][0]["text"] == "Hello, decline!"


async def test_several_questions_of_every_sort_are_asked_at_once() -> None:
    roots = {"roots": [{"uri": "file:///here"}]}
    async with talking(*TOOLS) as server:
        asked = await server.call("many_sorts")
        methods = {key: each["method"] for key, each in asked["result"]["inputRequests"].items()}
        told = await server.call("many_sorts", params=answering(asked, who=ALICE, what=PARIS, roots=roots))
    assert methods == {
        "who": "elicitation/create",
        "what": "sampling/createMessage",
        "roots": "roots/list",
    }
    given = told["result"]["structuredContent"]
    assert (given["who"]["content"], given["roots"]["roots"][0]["uri"]) == ({"name": "Alice"}, "file:///here")


async def test_answers_of_another_shape_are_refused() -> None:
    async with talking(*TOOLS) as server:
        refused = await server.call("greet", params={"inputResponses": {"who": 12345}})
    assert refused["error"]["code"] == -32602


@pytest.mark.parametrize(
    "change", ["tampered", "another tool", "other arguments", "another principal", "none"]
)
async def test_a_state_is_good_for_its_own_request_only(change: str) -> None:
    async with talking(*TOOLS) as server:
        params = answering(await server.call("greet"), who=ALICE)
        if change == "tampered":
            params["requestState"] += "x"
        elif change == "other arguments":
            params["arguments"] = {"more": True}
        elif change == "another principal":
            server.client.scope["toolspan.principal"] = b"token other"
        told = await server.call("two_steps" if change == "another tool" else "greet", params=params)
    if change == "none":
        assert told["result"]["resultType"] == "complete"
    else:
        assert (told["error"]["code"], told["error"]["message"]) == (-32602, STATE)


async def test_a_replica_with_the_same_key_takes_the_state_and_one_without_does_not() -> None:
    key = "k" * 32
    async with (
        talking(*TOOLS, request_state_key=key) as one,
        talking(*TOOLS, request_state_key=key) as replica,
        talking(*TOOLS) as stranger,
    ):
        params = answering(await one.call("greet"), who=ALICE)
        assert (await replica.call("greet", params=params))["result"]["resultType"] == "complete"
        assert (await stranger.call("greet", params=params))["error"]["message"] == STATE


async def test_what_does_not_fit_the_state_is_refused() -> None:
    async def forgetless(_arguments: Mapping[str, Any], context: Context) -> Any:
        context.client.memory["much"] = "x" * 300_000
        return await context.client.ask({"who": NAME})

    async with talking(tool("forgetless", forgetless)) as server:
        refused = await server.call("forgetless")
    assert "exceed 262,144 bytes" in refused["error"]["message"]


@pytest.mark.parametrize(
    ("capabilities", "question", "lacked"),
    [
        ({}, NAME, {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, NAME, {"elicitation": {"form": {}}}),
        ({"elicitation": {}}, Question("elicitation", {"mode": "url"}), {"elicitation": {"url": {}}}),
        ({"sampling": {}}, Question("sampling", {"tools": []}), {"sampling": {"tools": {}}}),
        ({"sampling": {}}, Question("roots"), {"roots": {}}),
    ],
)
async def test_a_client_is_not_asked_what_it_did_not_declare(
    capabilities: dict[str, Any], question: Question, lacked: dict[str, Any]
) -> None:
    async def ask(_arguments: Mapping[str, Any], context: Context) -> Any:
        return await context.client.ask({"it": question})

    async with talking(tool("ask", ask)) as server:
        reply = await server.modern("tools/call", {"name": "ask"}, capabilities=capabilities)
        session = await server.session(capabilities)
        before = (await session.ask("tools/call", {"name": "ask"})).messages[-1]
    assert reply.status == 400
    assert reply.message["error"]["code"] == -32021
    assert reply.message["error"]["data"] == {"requiredCapabilities": lacked}
    assert before["result"]["isError"]
    assert before["result"]["structuredContent"]["error_code"] == "client_cannot_answer"


async def test_progress_rises_on_the_stream_of_the_answer_and_only_with_a_token() -> None:
    async with talking(*TOOLS) as server:
        told = await server.modern("tools/call", {"name": "chatty"}, meta={"progressToken": "p"})
        quiet = await server.modern("tools/call", {"name": "chatty"})
        session = await server.session()
        before = await session.ask("tools/call", {"name": "chatty", "_meta": {"progressToken": 7}})
    assert [each["params"]["progress"] for each in told.messages[:-1]] == [0, 50, 100]
    assert told.messages[0]["params"] == {
        "progressToken": "p",
        "progress": 0,
        "total": 100,
        "message": "at 0",
    }
    assert quiet.kind == "json"
    progress = [each for each in before.messages if each.get("method") == "notifications/progress"]
    assert [each["params"]["progress"] for each in progress] == [0, 50, 100]


async def test_log_messages_come_from_the_level_that_the_request_names() -> None:
    async with talking(*TOOLS) as server:
        meta = {"io.modelcontextprotocol/logLevel": "info"}
        told = await server.modern("tools/call", {"name": "chatty"}, meta=meta)
    assert [each["params"] for each in told.messages[:-1]] == [
        {"level": level, "data": {"said": level}, "logger": "tests"} for level in ("info", "error")
    ]


async def test_a_session_sets_its_own_log_level() -> None:
    async with talking(*TOOLS) as server:
        one, other = await server.session(), await server.session()
        assert one.opened["capabilities"]["logging"] == {}
        assert (await one.ask("logging/setLevel", {"level": "error"})).message["result"] == {}
        levels = [await logged(session) for session in (one, other)]
    assert levels == [["error"], ["info", "error"]]


async def logged(session: Session) -> list[str]:
    reply = await session.ask("tools/call", {"name": "chatty"})
    return [each["params"]["level"] for each in reply.messages if "level" in each.get("params", {})]


async def test_a_server_whose_tools_say_nothing_has_no_log_level() -> None:
    async with talking() as server:
        session = await server.session()
        assert "logging" not in session.opened["capabilities"]
        assert (await session.ask("logging/setLevel", {"level": "error"})).message["error"]["code"] == -32601


async def asked_in_session(
    server: Talking, session: Session, name: str, answers: list[dict[str, Any]]
) -> dict[str, Any]:
    """What a call gives in the 2025 era, its questions answered on the stream that they come by."""
    reply = Reply()
    async with anyio.create_task_group() as group:
        group.start_soon(partial(session.ask, "tools/call", {"name": name}, 5, reply))
        for count, answer in enumerate(answers, 1):
            question = (await reached(reply, count))[-1]
            sent = {"jsonrpc": "2.0", "id": question["id"], **answer}
            assert (await session.post(sent)).status == 202
    return reply.messages[-1]["result"]  # type: ignore[no-any-return]


async def test_in_the_2025_era_the_client_is_asked_while_the_call_runs() -> None:
    async with talking(*TOOLS) as server:
        session = await server.session({"elicitation": {}, "sampling": {}})
        result = await asked_in_session(server, session, "two_steps", [{"result": ALICE}, {"result": PARIS}])
    assert result["structuredContent"]["result"][:2] == ["Alice", "Paris"]
    assert result["structuredContent"]["result"][2]["runs"] == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"error": {"code": -1, "message": "not in the mood"}}, "not in the mood"),
        ({"result": {"action": "maybe"}}, "no result of elicitation/create"),
        ({"result": {"action": "accept", "content": {"name": 5}}}, "asked by: 'name' must be a string"),
    ],
)
async def test_an_answer_that_is_none_fails_the_call_of_the_2025_era(
    answer: dict[str, Any], told: str
) -> None:
    async with talking(*TOOLS) as server:
        session = await server.session({"elicitation": {}})
        result = await asked_in_session(server, session, "greet", [answer])
    assert result["isError"]
    assert told in result["structuredContent"]["error"]
    assert result["structuredContent"]["error_code"] == "client_refused"


async def test_a_call_that_waits_for_a_person_leaves_its_place_to_others() -> None:
    limits = {"concurrent_calls": 1}
    async with talking(*TOOLS, limits=limits) as server:
        session = await server.session({"elicitation": {}})
        reply = Reply()
        async with anyio.create_task_group() as group:
            group.start_soon(partial(session.ask, "tools/call", {"name": "greet"}, 5, reply))
            [question] = await reached(reply, 1)
            assert (await server.call("chatty"))["result"]["content"][0]["text"] == "done"
            await session.post({"jsonrpc": "2.0", "id": question["id"], "result": ALICE})
    assert reply.messages[-1]["result"]["content"][0]["text"] == "Hello, Alice!"


async def test_a_call_that_waits_for_an_answer_can_be_cancelled() -> None:
    ended: list[str] = []

    async def patient(arguments: Mapping[str, Any], context: Context) -> Any:
        try:
            return await greet(arguments, context)
        finally:
            ended.append(context.tool_name)

    async with talking(tool("patient", patient)) as server:
        session = await server.session({"elicitation": {}})
        reply = Reply()
        async with anyio.create_task_group() as group:
            group.start_soon(partial(session.ask, "tools/call", {"name": "patient"}, 5, reply))
            await reached(reply, 1)
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": 5}}
            await session.post({"jsonrpc": "2.0", **cancelled})
    assert ended == ["patient"]


async def test_a_client_that_disconnects_in_the_modern_era_cancels_a_tool_that_talks() -> None:
    ended = anyio.Event()

    async def endless(_arguments: Mapping[str, Any], context: Context) -> Any:
        try:
            await context.client.progress(1)
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with talking(tool("endless", endless)) as server:
        reply, gone = Reply(), anyio.Event()
        async with anyio.create_task_group() as group:
            call = partial(
                server.modern,
                "tools/call",
                {"name": "endless"},
                meta={"progressToken": 1},
                reply=reply,
                gone=gone,
            )
            group.start_soon(call)
            await reached(reply, 1)
            gone.set()
            with anyio.fail_after(BOUND_S):
                await ended.wait()


async def test_meta_passes_through_both_ways() -> None:
    from toolspan_server.calls.content import Content

    async def mirror(_arguments: Mapping[str, Any], context: Context) -> Content:
        text = ({"type": "text", "text": "seen"},)
        return Content(text, meta={"example.com/seen": context.meta["example.com/given"]})

    async with talking(tool("mirror", mirror)) as server:
        modern = await server.call("mirror", meta={"example.com/given": [1]})
        session = await server.session()
        params = {"name": "mirror", "_meta": {"example.com/given": [2]}}
        before = (await session.ask("tools/call", params)).messages[-1]
    assert modern["result"]["_meta"]["example.com/seen"] == [1]
    assert before["result"]["_meta"]["example.com/seen"] == [2]


async def test_a_tool_may_fail_after_it_has_asked() -> None:
    async def moody(arguments: Mapping[str, Any], context: Context) -> Any:
        raise ToolFailure(f"not today, {await greet(arguments, context)}")

    async with talking(tool("moody", moody)) as server:
        asked = await server.call("moody")
        told = await server.call("moody", params=answering(asked, who=ALICE))
    assert told["result"]["isError"]
    assert "Hello, Alice!" in told["result"]["content"][0]["text"]
