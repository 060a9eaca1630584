"""Approval since 2026, where a call is made again with the answer: each run has an answer of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.executors import tool as entry
from tests.support.raw_http import RawClient, request, tool_headers
from tests.support.served import MODERN_META, Served, http_server
from tests.support.served import tool as listed
from tests.support.talking import EVERYTHING, Talking, talking, tool
from tests.support.upstreams import talker
from tests.support.waiting import BOUND_S
from toolspan_server.calls.client import Question
from toolspan_server.calls.context import Context
from toolspan_server.config import Config
from toolspan_server.protocol.state.single_use_tokens import SingleUse

pytestmark = pytest.mark.requirement("I9.1.5")

KEY = "k" * 32
FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
ACCEPT = {"action": "accept", "content": {}}
WITHOUT_TASKS = {key: value for key, value in EVERYTHING.items() if key != "extensions"}


class Counted:
    """A tool that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, _arguments: Mapping[str, Any], _context: Context) -> int:
        self.runs += 1
        return self.runs

    def entry(self, **approval: Any) -> dict[str, Any]:
        return tool("delete", self.run, approval=approval or True)


def answered(asked: Mapping[str, Any], answer: Mapping[str, Any] = ACCEPT) -> dict[str, Any]:
    """The parameters of the next round, every question answered alike."""
    result = asked["result"]
    responses = dict.fromkeys(result["inputRequests"], answer)
    return {"requestState": result["requestState"], "inputResponses": responses}


async def call(server: Talking, name: str = "delete", **params: Any) -> dict[str, Any]:
    return await server.call(name, params=params, capabilities=WITHOUT_TASKS)


def is_question(answer: Mapping[str, Any]) -> bool:
    return bool(answer["result"]["resultType"] == "input_required")


@pytest.mark.anyio
async def test_an_accept_that_nobody_was_asked_for_runs_nothing() -> None:
    counted = Counted()
    async with talking(counted.entry()) as server, talking(counted.entry()) as other:
        elsewhere = answered(await call(other))
        asked = await call(server, inputResponses=elsewhere["inputResponses"])
        known = dict.fromkeys(asked["result"]["inputRequests"], ACCEPT)
        assert is_question(await call(server, inputResponses=known))
    assert (is_question(asked), counted.runs) == (True, 0)
    assert elsewhere["inputResponses"].keys().isdisjoint(known)


@pytest.mark.anyio
@pytest.mark.parametrize("first", ["accept", "decline", "cancel"])
async def test_a_state_that_was_answered_is_asked_again_when_it_comes_again(first: str) -> None:
    counted = Counted()
    async with talking(counted.entry()) as server:
        asked = await call(server)
        done = await call(server, **answered(asked, {"action": first}))
        assert done["result"]["isError"] is (first != "accept")
        for _ in range(3):
            assert is_question(await call(server, **answered(asked)))
    assert counted.runs == (first == "accept")


@pytest.mark.anyio
async def test_an_answer_after_the_approvals_own_time_is_a_no() -> None:
    counted = Counted()
    async with talking(counted.entry(timeout_ms=1)) as server:
        asked = await call(server)
        await anyio.sleep(0.01)
        late = await call(server, **answered(asked))
        assert late["result"]["structuredContent"]["error_code"] == "denied"
        assert "nobody answered within 0.001 seconds" in late["result"]["structuredContent"]["error"]
    assert counted.runs == 0


@pytest.mark.anyio
async def test_a_yes_is_for_the_tool_as_it_was_when_the_person_was_asked() -> None:
    counted, changed = Counted(), Counted()
    async with talking(counted.entry()) as server:
        asked = await call(server)
        other = {**changed.entry(), "description": "Another tool."}
        await server.runtime.replace(Config.model_validate({"tools": {"registry": [other]}}))
        again = await call(server, **answered(asked))
        assert (is_question(again), counted.runs, changed.runs) == (True, 0, 0)
        await call(server, **answered(again))
    assert (counted.runs, changed.runs) == (0, 1)


@pytest.mark.anyio
async def test_a_tool_that_asks_more_after_its_approval_is_approved_once_and_runs_once() -> None:
    runs = 0

    async def form(_arguments: Mapping[str, Any], context: Context) -> str:
        nonlocal runs
        await context.client.ask({"more": Question("elicitation", FORM)})
        runs += 1
        return "done"

    async with talking(tool("delete", form, approval=True)) as server:
        first = await call(server)
        second = await call(server, **answered(first))
        assert list(second["result"]["inputRequests"]) == ["more"]
        assert (await call(server, **answered(second)))["result"]["isError"] is False
        replayed = await call(server, **answered(second))
        assert [key.partition("-")[0] for key in replayed["result"]["inputRequests"]] == ["approve"]
    assert runs == 1


@pytest.mark.anyio
async def test_the_approvals_inside_a_pipeline_count_once_too() -> None:
    counted = Counted()
    steps = [{"id": "one", "tool": "delete"}, {"id": "two", "tool": "delete"}]
    async with talking(counted.entry(), entry("twice", {"type": "pipeline", "steps": steps})) as server:
        first = await call(server, "twice")
        second = await call(server, "twice", **answered(first))
        done = await call(server, "twice", **answered(second))
        assert (done["result"]["isError"], counted.runs) == (False, 2)
        for state in (first, second):
            assert is_question(await call(server, "twice", **answered(state)))
    assert counted.runs == 2


@pytest.mark.anyio
@pytest.mark.parametrize("action", ["accept", "decline"])
async def test_a_task_waits_for_its_own_approval(action: str) -> None:
    counted = Counted()
    async with talking({**counted.entry(), "task": {}}) as server:
        unasked = answered(await call(server))["inputResponses"]
        made = await server.call("delete", params={"inputResponses": unasked})
        task = {"taskId": made["result"]["taskId"]}

        async def until(status: str) -> dict[str, Any]:
            with anyio.fail_after(BOUND_S):
                while (got := (await server.modern("tasks/get", task)).message["result"])["status"] != status:
                    pass
            return got  # type: ignore[no-any-return]

        [key] = (await until("input_required"))["inputRequests"]
        for _ in range(2):
            answers = {key: {**ACCEPT, "action": action}}
            await server.modern("tasks/update", {**task, "inputResponses": answers})
        await until("completed")
    assert counted.runs == (action == "accept")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["old", "new"])
async def test_what_an_upstream_asks_the_person_is_asked_again_when_a_state_comes_again(era: str) -> None:
    services = {"upstreams": {"up": talker(era, may_ask=["elicitation"])}}
    tools = {"sources": [{"type": "mcp", "upstream": "up", "include": ["elicit"]}]}
    rome = {"action": "accept", "content": {"city": "Rome"}}
    async with talking(services=services, tools=tools) as server:
        await server.runtime.settled()
        asked = await call(server, "elicit")
        params = answered(asked, rome)
        done = await call(server, "elicit", **params)
        assert "Rome" in done["result"]["content"][0]["text"]
        again = await call(server, "elicit", **params)
        assert is_question(again)
        done = await call(server, "elicit", **answered(again, rome))
        assert "Rome" in done["result"]["content"][0]["text"]
        assert is_question(await call(server, "elicit", inputResponses=params["inputResponses"]))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A tool that a person approves, and a key for the states that outlives the server."""
    delete = listed("delete", {"type": "mock", "mock_response": "deleted"}, approval=True)
    path = tmp_path / "toolspan.json"
    path.write_text(json.dumps({"tools": {"registry": [delete]}, "request_state_key": KEY}))
    return path


def sent(server: Served, **params: Any) -> dict[str, Any]:
    """The answer to a call on a connection of its own."""
    meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    given = {"name": "delete", "arguments": {}, **params, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": given}).encode()
    with RawClient(server.address) as client:
        client.send(request("POST", "/mcp", *tool_headers("delete"), body=body))
        return client.answer().message  # type: ignore[no-any-return]


def test_of_all_workers_one_takes_an_answer_once(config: Path) -> None:
    with http_server(config, "--workers", "2") as server:
        for _ in range(4):
            params = answered(sent(server))
            told = [sent(server, **params)["result"]["resultType"] for _ in range(6)]
            assert told == ["complete", *["input_required"] * 5]


def test_a_server_that_was_started_again_asks_again(config: Path) -> None:
    with http_server(config) as server:
        params = answered(sent(server))
    with http_server(config) as server:
        again = sent(server, **params)
        assert is_question(again)
        assert sent(server, **answered(again))["result"]["isError"] is False


def test_a_token_is_good_once_and_within_its_time() -> None:
    tokens = SingleUse(16)
    good, late = tokens.issue(60), tokens.issue(-1)
    assert [tokens.redeem(good), tokens.redeem(good), tokens.redeem(late)] == [True, False, False]
    assert tokens.redeem("00" * 16) is False


def test_no_more_tokens_are_kept_than_there_is_room_for_and_the_newest_stay() -> None:
    tokens = SingleUse(8)
    made = [tokens.issue(60 + number) for number in range(100)]
    assert [tokens.redeem(token) for token in made] == [False] * 92 + [True] * 8
