"""Calls that become tasks (SEP-2663), over the real endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.talking import TASKS, Talking, reached, talking, tool
from tests.support.waiting import BOUND_S
from toolspan_server.calls.client import Question
from toolspan_server.calls.context import Context
from toolspan_server.config import TaskConfig, load_config
from toolspan_server.errors import ConfigError, RequestRefused, ToolFailure

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I4.3.4", "I4.4.1")]

NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NAME = Question("elicitation", {"message": "Your name?", "requestedSchema": NAMED})
ALICE = {"action": "accept", "content": {"name": "Alice"}}
LACKING = {"requiredCapabilities": {"extensions": {TASKS: {}}}}


async def quick(_arguments: Mapping[str, Any], context: Context) -> str:
    await context.client.progress(1, 2, "half way")
    return "done"


async def endless(_arguments: Mapping[str, Any], _context: Context) -> None:
    await anyio.sleep_forever()


async def greet(_arguments: Mapping[str, Any], context: Context) -> str:
    answers = await context.client.ask({"who": NAME})
    return f"Hello, {answers['who']['content']['name']}!"


async def ask_two(_arguments: Mapping[str, Any], context: Context) -> Any:
    answers = await context.client.ask({"one": NAME, "two": NAME})
    return [answer["content"]["name"] for answer in answers.values()]


async def fail(_arguments: Mapping[str, Any], _context: Context) -> None:
    raise ToolFailure("no luck")


async def refuse(_arguments: Mapping[str, Any], _context: Context) -> None:
    raise RequestRefused(-32050, "not like this", {"why": "tests"})


TOOLS = (
    tool("plain", quick),
    tool("quick", quick, task={}),
    tool("endless", endless, task={}, timeout_ms=3_600_000),
    tool("greet", greet, task={}),
    tool("ask_two", ask_two, task={}),
    tool("fail", fail, task={}),
    tool("refuse", refuse, task={}),
    tool("only", quick, task={"support": "required", "ttl_ms": 5_000, "poll_interval_ms": 50}),
    tool("first", greet, task={"questions": "before"}),
)


async def begun(server: Talking, name: str, **more: Any) -> str:
    """The id of the task that a call becomes."""
    result = (await server.call(name, **more))["result"]
    assert result["resultType"] == "task", result
    return str(result["taskId"])


async def got(server: Talking, task_id: str, **more: Any) -> dict[str, Any]:
    reply = await server.modern("tasks/get", {"taskId": task_id}, **more)
    return reply.message  # type: ignore[no-any-return]


async def until(server: Talking, task_id: str, status: str) -> dict[str, Any]:
    """The task, once it has ``status``."""
    with anyio.fail_after(BOUND_S):
        while True:
            task = (await got(server, task_id))["result"]
            if task["status"] == status:
                return task  # type: ignore[no-any-return]


async def update(server: Talking, task_id: str, **answers: Any) -> dict[str, Any]:
    reply = await server.modern("tasks/update", {"taskId": task_id, "inputResponses": answers})
    return reply.message  # type: ignore[no-any-return]


async def test_a_task_is_told_at_once_and_its_result_later() -> None:
    async with talking(*TOOLS) as server:
        made = (await server.call("only"))["result"]
        task = await until(server, made["taskId"], "completed")
    assert (made["resultType"], made["ttlMs"], made["pollIntervalMs"]) == ("task", 5_000, 50)
    assert not made.keys() & {"result", "error", "inputRequests", "requestState", "task"}
    assert task["resultType"] == "complete"
    assert task["statusMessage"] == "half way"
    assert task["result"]["content"] == [{"type": "text", "text": "done"}]


async def test_only_clients_of_the_extension_get_tasks() -> None:
    async with talking(*TOOLS) as server:
        declared = (await server.modern("server/discover")).message["result"]["capabilities"]
        sync = await server.call("quick", capabilities={})
        refused = await server.modern("tools/call", {"name": "only"}, capabilities={})
        hidden = await server.modern("tasks/get", {"taskId": "any"}, capabilities={})
        session = await server.session({"extensions": {TASKS: {}}})
        before = (await session.ask("tools/call", {"name": "quick"})).messages[-1]
        absent = (await session.ask("tasks/get", {"taskId": "any"})).messages[-1]
    assert declared["extensions"] == {TASKS: {}}
    assert "extensions" not in session.opened["capabilities"]
    assert sync["result"]["resultType"] == "complete"
    assert (refused.status, refused.message["error"]["code"]) == (400, -32021)
    assert refused.message["error"]["data"] == hidden.message["error"]["data"] == LACKING
    assert before["result"]["content"][0]["text"] == "done"
    assert absent["error"]["code"] == -32601


async def test_a_server_without_such_tools_knows_no_tasks() -> None:
    async with talking(tool("plain", quick)) as server:
        assert (await got(server, "any"))["error"]["code"] == -32601
        declared = (await server.modern("server/discover")).message["result"]["capabilities"]
    assert "extensions" not in declared


async def test_a_failed_tool_completes_and_a_refused_request_fails() -> None:
    async with talking(*TOOLS) as server:
        failed = await until(server, await begun(server, "fail"), "completed")
        refused = await until(server, await begun(server, "refuse"), "failed")
    assert failed["result"]["isError"]
    assert refused["error"] == {"code": -32050, "message": "not like this", "data": {"why": "tests"}}
    assert "result" not in refused


async def test_a_task_asks_by_its_state_and_goes_on_with_the_answer() -> None:
    async with talking(*TOOLS) as server:
        task_id = await begun(server, "greet")
        asking = await until(server, task_id, "input_required")
        assert asking["inputRequests"]["who"]["method"] == "elicitation/create"
        wrong = await update(server, task_id, who={"action": "accept", "content": {"name": 5}})
        ignored = await update(server, task_id, unknown={"anything": True})
        taken = await update(server, task_id, who=ALICE)
        task = await until(server, task_id, "completed")
    assert (wrong["error"]["code"], "inputResponses.who" in wrong["error"]["message"]) == (-32602, True)
    for acknowledged in (ignored, taken):
        assert acknowledged["result"].keys() == {"resultType", "_meta"}
    assert task["result"]["content"][0]["text"] == "Hello, Alice!"
    assert "inputRequests" not in task


async def test_questions_may_be_answered_one_at_a_time() -> None:
    async with talking(*TOOLS) as server:
        task_id = await begun(server, "ask_two")
        await until(server, task_id, "input_required")
        await update(server, task_id, one=ALICE)
        left = (await got(server, task_id))["result"]
        await update(server, task_id, one={"action": "decline"}, two=ALICE)
        task = await until(server, task_id, "completed")
    assert (left["status"], list(left["inputRequests"])) == ("input_required", ["two"])
    assert task["result"]["structuredContent"] == ["Alice", "Alice"]


async def test_a_cancelled_task_ends_and_may_be_cancelled_again() -> None:
    async with talking(*TOOLS) as server:
        task_id = await begun(server, "endless")
        for _ in range(2):
            reply = await server.modern("tasks/cancel", {"taskId": task_id})
            assert reply.message["result"].keys() == {"resultType", "_meta"}
        task = (await got(server, task_id))["result"]
        with anyio.fail_after(BOUND_S):
            await server.application.calls.finished(BOUND_S)
    assert task["status"] == "cancelled"
    assert not task.keys() & {"result", "error"}


async def test_a_task_is_known_to_its_principal_only() -> None:
    async with talking(*TOOLS) as server:
        server.client.scope["toolspan.principal"] = b"token one"
        task_id = await begun(server, "quick")
        await until(server, task_id, "completed")
        server.client.scope["toolspan.principal"] = b"token two"
        others = await got(server, task_id)
    assert others["error"] == {"code": -32602, "message": "Task not found"}


async def test_a_task_is_known_at_its_own_toolset_only() -> None:
    toolsets = {"one": {"tools": ["quick"]}, "two": {"tools": ["quick"]}}
    async with talking(*TOOLS, toolsets=toolsets) as server:
        server.path = "/mcp/one"
        task_id = await begun(server, "quick")
        await until(server, task_id, "completed")
        server.path = "/mcp/two"
        assert (await got(server, task_id))["error"]["message"] == "Task not found"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_the_routing_header_must_name_the_task(method: str) -> None:
    async with talking(*TOOLS) as server:
        params = {"taskId": "some", "inputResponses": {}}
        for name in ("other", ""):
            reply = await server.modern(method, params, headers={"mcp-name": name})
            assert (reply.status, reply.message["error"]["code"]) == (400, -32020)
        encoded = await server.modern(method, params, headers={"mcp-name": "=?base64?c29tZQ==?="})
    assert encoded.message["error"] == {"code": -32602, "message": "Task not found"}


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list"])
async def test_the_methods_of_the_earlier_experiment_do_not_exist(method: str) -> None:
    async with talking(*TOOLS) as server:
        assert (await server.modern(method, {"taskId": "x"})).message["error"]["code"] == -32601


async def test_no_more_tasks_than_the_limit_are_kept() -> None:
    async with talking(*TOOLS, limits={"tasks": 1}) as server:
        await begun(server, "endless")
        refused = await server.call("quick")
    assert "limits.tasks is 1" in refused["error"]["message"]


async def test_a_task_is_kept_for_its_time() -> None:
    brief = TaskConfig.initial().model_copy(update={"ttl_ms": 50})
    fast_path = tool("short", endless, task=brief, timeout_ms=3_600_000)
    async with talking(*TOOLS, fast_path, limits={"tasks": 1}) as server:
        task_id = await begun(server, "short")
        with anyio.fail_after(BOUND_S):
            while "result" in await got(server, task_id):
                pass
            await server.application.calls.finished(BOUND_S)
        assert await begun(server, "quick")


async def test_a_tool_that_asks_before_its_task_has_its_answers_in_it() -> None:
    async with talking(*TOOLS) as server:
        asked = (await server.call("first"))["result"]
        assert asked["resultType"] == "input_required"
        assert "taskId" not in asked
        params = {"requestState": asked["requestState"], "inputResponses": {"who": ALICE}}
        task_id = await begun(server, "first", params=params)
        task = await until(server, task_id, "completed")
    assert task["result"]["content"][0]["text"] == "Hello, Alice!"


async def test_a_question_that_comes_late_is_asked_by_the_task() -> None:
    async def late(arguments: Mapping[str, Any], context: Context) -> str:
        await anyio.sleep(0.15)
        return await greet(arguments, context)

    async with talking(tool("late", late, task={"questions": "before"})) as server:
        task_id = await begun(server, "late")
        await until(server, task_id, "input_required")
        await update(server, task_id, who=ALICE)
        assert (await until(server, task_id, "completed"))["result"]["content"][0]["text"] == "Hello, Alice!"


async def test_what_becomes_of_a_task_is_told_to_whoever_listens_for_it() -> None:
    async with talking(*TOOLS) as server, anyio.create_task_group() as group:
        task_id = await begun(server, "greet")
        await until(server, task_id, "input_required")
        reply, gone = Reply(), anyio.Event()
        wanted = {"notifications": {"taskIds": [task_id, "unknown"]}}
        group.start_soon(partial(server.modern, "subscriptions/listen", wanted, reply=reply, gone=gone))
        [acknowledged] = await reached(reply, 1)
        await update(server, task_id, who=ALICE)
        resumed, told = (await reached(reply, 3))[1:]
        gone.set()
    assert acknowledged["params"]["notifications"] == {"taskIds": [task_id]}
    assert (resumed["method"], resumed["params"]["status"]) == ("notifications/tasks", "working")
    assert (told["params"]["taskId"], told["params"]["status"]) == (task_id, "completed")
    assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 1}


async def test_tasks_are_not_told_to_a_client_without_the_extension() -> None:
    async with talking(*TOOLS) as server:
        wanted = {"notifications": {"taskIds": ["any"]}}
        refused = await server.modern("subscriptions/listen", wanted, capabilities={})
    assert refused.message["error"]["data"] == LACKING


@pytest.mark.parametrize(
    ("task", "fault"),
    [
        ({"support": "sometimes"}, "support"),
        ({"ttl_ms": 5}, "ttl_ms"),
        ({"tll_ms": 5_000}, "tll_ms"),
        ({"questions": "after"}, "questions"),
    ],
)
async def test_a_wrong_task_record_is_a_config_error(task: dict[str, Any], fault: str, tmp_path: Any) -> None:
    import json

    entry = {"name": "t", "description": "d", "implementation": {"type": "mock"}, "task": task}
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [entry]}}))
    with pytest.raises(ConfigError, match=fault):
        load_config(path)
