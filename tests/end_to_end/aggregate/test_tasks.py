"""Calls that a server behind an aggregate makes tasks of are tasks of the aggregate (SEP-2663)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.aggregates import aggregate, mock, own
from tests.support.served import MODERN_META, StdioServer, http_server
from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.long

TASKS = "io.modelcontextprotocol/tasks"
ABLE = {"elicitation": {"form": {}}, "extensions": {TASKS: {}}}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}}
ASKS = {"ask": {"who": {"elicitation": {"message": "Who?", "requestedSchema": NAMED}}}}
OFTEN = {"poll_interval_ms": 50}


def stepped(name: str, *steps: Any, response: str = "done", **more: Any) -> dict[str, Any]:
    implementation = {"type": "mock", "steps": list(steps), "response": response}
    return {"name": name, "description": name, "implementation": implementation, "task": OFTEN, **more}


TOOLS = (
    mock("plain", "at once"),
    stepped("greet", ASKS, response="Hello, {{ answers.who.content.name }}!"),
    stepped(
        "early", ASKS, task={**OFTEN, "questions": "before"}, response="Hi, {{ answers.who.content.name }}!"
    ),
    stepped("only", {"delay_ms": 10}, task={**OFTEN, "support": "required"}),
    stepped("endless", {"delay_ms": 600_000}, timeout_ms=700_000),
    {
        **stepped("broken"),
        "implementation": {"type": "mock", "protocol_error": {"code": -32050, "message": "not like this"}},
    },
)


class Asking:
    """A client of 2026-07-28 that takes tasks."""

    def __init__(self, server: StdioServer) -> None:
        self._server = server
        self._count = 0

    def __call__(self, method: str, able: Any = ABLE, **params: Any) -> dict[str, Any]:
        self._count += 1
        meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": able}
        message = {"method": method, "params": {**params, "_meta": meta}}
        return self._server.ask({"jsonrpc": "2.0", "id": self._count, **message})

    def call(self, name: str, able: Any = ABLE, **params: Any) -> dict[str, Any]:
        return self("tools/call", able, name=name, arguments={}, **params)

    def begun(self, name: str, **params: Any) -> str:
        result = self.call(name, **params)["result"]
        assert result["resultType"] == "task", result
        return str(result["taskId"])

    def until(self, task: str, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The task's state, once it is so."""
        while not is_it(state := self("tasks/get", taskId=task)["result"]):
            pass
        return dict(state)

    def ended(self, task: str) -> dict[str, Any]:
        return self.until(task, lambda state: state["status"] not in ("working", "input_required"))


@pytest.mark.requirement("I15.4.45")
def test_what_a_server_makes_a_task_of_is_one_and_all_else_is_answered_at_once(tmp_path: Path) -> None:
    config = aggregate(tmp_path, {"jobs": own(tmp_path, "jobs", *TOOLS)}, {})
    with StdioServer(config) as server:
        client = Asking(server)
        assert client.call("jobs_plain")["result"]["content"][0]["text"] == "at once"
        done = client.ended(client.begun("jobs_only"))
        assert done["status"] == "completed" and done["result"]["content"][0]["text"] == "done"
        failed = client.ended(client.begun("jobs_broken"))
        assert failed["status"] == "failed"
        assert failed["error"] == {"code": -32050, "message": "not like this"}
        without = client.call("jobs_only", {})["error"]
        assert without["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.requirement("I15.4.45")
def test_tasks_of_a_single_upstream_are_tasks_too(tmp_path: Path) -> None:
    upstreams = {"jobs": {**own(tmp_path, "jobs", *TOOLS), "connect_seconds": BOUND_S}}
    path = tmp_path / "one.json"
    document = {
        "services": {"upstreams": upstreams},
        "tools": {"sources": [{"type": "mcp", "upstream": "jobs"}]},
        "limits": {"upstream_connect_seconds": BOUND_S},
    }
    path.write_text(json.dumps(document))
    with StdioServer(path) as server:
        client = Asking(server)
        assert client.ended(client.begun("only"))["status"] == "completed"
        assert TASKS in client("server/discover")["result"]["capabilities"]["extensions"]


@pytest.mark.requirement("I15.4.46")
def test_what_a_task_asks_before_it_begins_and_while_it_runs_is_asked_at_its_client(tmp_path: Path) -> None:
    config = aggregate(tmp_path, {"jobs": own(tmp_path, "jobs", *TOOLS)}, {})
    answer = {"action": "accept", "content": {"name": "Ann"}}
    with StdioServer(config) as server:
        client = Asking(server)
        task = client.begun("jobs_greet")
        asked = client.until(task, lambda state: "inputRequests" in state)
        (key,) = asked["inputRequests"]
        assert asked["inputRequests"][key]["params"]["message"] == "Who?"
        client("tasks/update", taskId=task, inputResponses={key: answer})
        assert client.ended(task)["result"]["content"][0]["text"] == "Hello, Ann!"
        early = client.call("jobs_early")["result"]
        assert early["resultType"] == "input_required"
        responses = dict.fromkeys(early["inputRequests"], answer)
        again = {"requestState": early["requestState"], "inputResponses": responses}
        ended = client.ended(client.begun("jobs_early", **again))
        assert ended["result"]["content"][0]["text"] == "Hi, Ann!"


@pytest.mark.requirement("I15.4.47")
def test_a_task_that_is_cancelled_here_is_cancelled_at_its_server_and_is_of_its_client_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"name": "jobs", "tools": {"registry": list(TOOLS)}}))
    with http_server(path, "--log-level", "info", "--log-format", "json") as behind:
        config = aggregate(tmp_path, {"jobs": {"url": f"{behind.url}/mcp"}}, {})
        with StdioServer(config) as server:
            client = Asking(server)
            task = client.begun("jobs_endless")
            assert client("tasks/get", taskId=task)["result"]["status"] == "working"
            client("tasks/cancel", taskId=task)
            assert client.ended(task)["status"] == "cancelled"
            behind.errors.first(lambda line: '"tool": "endless", "outcome": "cancelled"' in line)
            unknown = client("tasks/get", taskId="of-another")
            assert "Task not found" in unknown["error"]["message"]
