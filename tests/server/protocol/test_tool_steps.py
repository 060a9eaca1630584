"""Approval, pipelines and output schemas over the real endpoint, in both eras of the protocol."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.support.asgi import Reply
from tests.support.executors import tool
from tests.support.talking import reached, talking

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DELETE = tool(
    "delete", {"type": "mock", "mock_response": {"deleted": 1}}, approval={"message": "Delete {{ path }}?"}
)
TWICE = tool(
    "twice",
    {
        "type": "pipeline",
        "steps": [
            {"id": "all", "tool": "delete", "for_each": ["/a", "/b"], "arguments": {"path": "{{ item }}"}},
            {"id": "last", "tool": "delete", "arguments": {"path": "{{ steps.all.result[0].deleted }}"}},
        ],
    },
)


def _first_line(message: str) -> str:
    return message.partition("\n")[0]


async def modern_rounds(
    server: Any, name: str, arguments: dict[str, Any]
) -> tuple[dict[str, Any], list[list[str]]]:
    """The last result of a modern call that accepts everything; the messages that each round asked."""
    params: dict[str, Any] = {"arguments": arguments}
    rounds: list[list[str]] = []
    while True:
        result = (await server.call(name, params=params))["result"]
        if result["resultType"] != "input_required":
            return result, rounds
        requests = result["inputRequests"]
        rounds.append(sorted(_first_line(each["params"]["message"]) for each in requests.values()))
        answers = {key: {"action": "accept", "content": {}} for key in requests}
        params = {"arguments": arguments, "inputResponses": answers, "requestState": result["requestState"]}


@pytest.mark.requirement("I4.2.1")
async def test_since_2026_a_person_approves_by_way_of_an_answer_that_is_called_again() -> None:
    async with talking(DELETE) as server:
        result, rounds = await modern_rounds(server, "delete", {"path": "/a"})
        assert rounds == [["Delete /a?"]]
        assert (result["isError"], result["structuredContent"]) == (False, {"deleted": 1})


@pytest.mark.requirement("I4.2.6")
async def test_since_2026_the_steps_of_a_pipeline_ask_together_and_what_is_done_stays_done() -> None:
    async with talking(DELETE, TWICE) as server:
        result, rounds = await modern_rounds(server, "twice", {})
        assert rounds == [["Delete /a?", "Delete /b?"], ["Delete 1?"]]
        assert result["structuredContent"] == {"deleted": 1}


@pytest.mark.requirement("I4.2.1")
@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}])
async def test_a_client_that_cannot_elicit_is_told_that_approval_is_required(
    capabilities: dict[str, Any],
) -> None:
    async with talking(DELETE) as server:
        result = (
            await server.call("delete", params={"arguments": {"path": "/"}}, capabilities=capabilities)
        )["result"]
        assert (result["isError"], result["structuredContent"]["error_code"]) == (True, "approval_required")


@pytest.mark.requirement("I4.2.1")
@pytest.mark.parametrize(("action", "succeeds"), [("accept", True), ("decline", False)])
async def test_before_2026_the_call_waits_for_the_person(action: str, succeeds: bool) -> None:
    async with talking(DELETE) as server, anyio.create_task_group() as group:
        session = await server.session({"elicitation": {}})
        reply = Reply()
        call = {"name": "delete", "arguments": {"path": "/a"}}
        group.start_soon(lambda: session.ask("tools/call", call, reply=reply))
        asked = next(each for each in await reached(reply, 1) if each.get("method") == "elicitation/create")
        assert _first_line(asked["params"]["message"]) == "Delete /a?"
        answer = {"action": action, **({"content": {}} if succeeds else {})}
        await session.post({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        result = (await reached(reply, 2))[-1]["result"]
        assert result["isError"] is not succeeds


@pytest.mark.requirement("I4.2.1")
async def test_the_list_and_the_result_carry_what_the_output_schema_says() -> None:
    tools = [
        tool("good", {"type": "mock", "mock_response": {"n": 1}}, output_schema=SCHEMA, title="Good"),
        tool("bad", {"type": "mock", "mock_response": {"n": "x"}}, output_schema=SCHEMA),
    ]
    async with talking(*tools) as server:
        listed = (await server.modern("tools/list")).message["result"]["tools"]
        assert [each["outputSchema"] for each in listed] == [SCHEMA, SCHEMA]
        assert (await server.call("good"))["result"]["structuredContent"] == {"n": 1}
        bad = (await server.call("bad"))["result"]
        assert bad["isError"] is True
        assert json.loads(bad["content"][0]["text"])["error_code"] == "invalid_result"
