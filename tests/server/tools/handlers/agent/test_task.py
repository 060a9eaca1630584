"""Task for a foreign client: a sub-agent whose model is the client's, by sampling with tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from typing_extensions import override

from tests.support.asked_client import Waiting, in_rounds
from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import Context
from toolspan_server.calls.caller import LOCAL
from toolspan_server.calls.client import Question
from toolspan_server.calls.results import ToolResult

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.48")]

ARGUMENTS: dict[str, Any] = {"description": "look around", "prompt": "Find one."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "one\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        yield found


def use(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"u{number}", "name": name, "input": arguments}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


class Model:
    """Answers sampling with ``turns``, each a list of blocks; accepts what else it is asked."""

    def __init__(self, *turns: list[dict[str, Any]]) -> None:
        self.turns = turns
        self.requests: list[dict[str, Any]] = []

    def __call__(self, key: str, question: Question) -> dict[str, Any]:
        if question.ability != "sampling":
            return {"action": "accept", "content": {}}
        self.requests.append(dict(question.params))
        turn = self.turns[int(key.rpartition("-")[2])]
        return {"role": "assistant", "model": "m", "content": turn}


async def asked(workspace: WorkspaceTools, model: Model, **more: Any) -> ToolResult:
    context = Context(LOCAL, client=Waiting(model))
    return await workspace.runtime.execute("Task", {**ARGUMENTS, **more}, context)


def given(request: dict[str, Any]) -> list[tuple[str, bool]]:
    """The results in the last message of ``request``: their texts, and whether they are failures."""
    blocks = request["messages"][-1]["content"]
    assert all(block["type"] == "tool_result" for block in blocks)
    return [(block["content"][0]["text"], block.get("isError", False)) for block in blocks]


async def test_the_clients_model_works_with_the_tools_until_it_answers(tools: WorkspaceTools) -> None:
    model = Model([said("Looking."), use("Read", file_path="a.txt")], [said("in a.txt")])
    result = await asked(tools, model)
    assert result.result == {"answer": "in a.txt", "calls": 1, "iterations": 1}
    first, second = model.requests
    names = {tool["name"] for tool in first["tools"]}
    assert {"Read", "Grep"} <= names and not names & {"Write", "Bash", "Task", "TodoWrite", "ExitPlanMode"}
    assert first["messages"] == [{"role": "user", "content": [said("Find one.")]}]
    [(text, failed)] = given(second)
    assert "1\tone" in text and not failed
    assert result.meta is not None
    assert [each["role"] for each in result.meta["dev.toolspan/messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


async def test_a_client_that_comes_again_has_each_call_made_once(folder: Path) -> None:
    async with workspace_tools(folder, source={"approval": True}) as tools:
        append = use("Bash", command="echo x >> log; cat log")
        write = use("Write", 2, file_path="new.txt", content="new\n")
        model = Model([append, write], [said("done")])
        executor = tools.runtime.snapshot.executor
        arguments = {**ARGUMENTS, "tools": ["Bash", "Write"]}
        result, rounds = await in_rounds(executor, "Task", arguments, model)
    assert result.result["answer"] == "done"
    assert len(rounds) == 4  # a message, two approvals, a message
    assert (folder / "log").read_text() == "x\n"
    assert (folder / "new.txt").read_text() == "new\n"


async def test_calls_that_cannot_be_made_are_results_for_the_model(tools: WorkspaceTools) -> None:
    uses = [use("Write", 1, file_path="n", content=""), use("Read", 2, file_path="gone"), use("Read", 3)]
    model = Model(uses, [said("end")])
    await asked(tools, model)
    (unknown, missing, wrong) = given(model.requests[1])
    assert unknown[0].startswith("No tool 'Write'") and unknown[1]
    assert "(file_not_found)" in missing[0] and missing[1]
    assert "(invalid_parameters)" in wrong[0] and wrong[1]


async def test_each_of_very_many_calls_of_a_turn_has_its_result(tools: WorkspaceTools) -> None:
    model = Model([use("Read", n, file_path="a.txt") for n in range(20)], [said("end")])
    result = await asked(tools, model)
    assert result.result["calls"] == 16
    failures = [failed for _, failed in given(model.requests[1])]
    assert failures == [False] * 16 + [True] * 4


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        ({"iterations": 1}, "limits.subagents.iterations (1) was reached"),
        ({"calls": 1}, "limits.subagents.calls (1) was reached"),
        ({"tokens": 10}, "limits.subagents.tokens (10) was reached"),
    ],
)
async def test_a_limit_asks_for_the_answer_without_tools_and_is_named(
    folder: Path, limits: dict[str, Any], stopped: str
) -> None:
    model = Model([use("Read", file_path="a.txt")], [said("so far"), use("Read", 9, file_path="a.txt")])
    async with workspace_tools(folder, config={"limits": {"subagents": limits}}) as tools:
        result = await asked(tools, model)
    assert result.result["stopped"] == stopped
    assert result.result["answer"] == "so far"
    assert [each["toolChoice"]["mode"] for each in model.requests] == ["auto", "none"]


async def test_long_results_are_cut_so_that_the_messages_stay_within_what_a_client_is_sent(
    folder: Path,
) -> None:
    write_files(folder, {"long.txt": "\u4e16" * 90_000 + "\n"})
    turns = [[use("Grep", n, pattern="x*", path="long.txt", output_mode="content")] for n in range(1, 30)]
    async with workspace_tools(folder, limits={"line_characters": 100_000}) as tools:
        result = await asked(tools, Model(*turns, [said("end")]))
    assert result.success, result.error
    assert "180,000 characters" in result.result["stopped"]


async def test_a_client_whose_model_takes_no_tools_is_told_so(tools: WorkspaceTools) -> None:
    refused = await tools.refused("Task", **ARGUMENTS)
    assert refused.startswith("client_cannot_answer: ")
    assert "sampling.tools" in refused


async def test_tools_that_do_not_exist_are_named_back(tools: WorkspaceTools) -> None:
    refused = await tools.refused("Task", **ARGUMENTS, tools=["Fly*"])
    assert "none is called Fly*" in refused and "Read" in refused


async def test_in_plan_mode_its_calls_change_nothing(tools: WorkspaceTools, folder: Path) -> None:
    await tools.planning("default")
    model = Model([use("Write", file_path="new.txt", content="x")], [said("end")])
    await asked(tools, model, tools=["Write"])
    assert "(plan_mode)" in given(model.requests[1])[0][0]
    assert not (folder / "new.txt").exists()


class Endless(Model):
    """Always calls the tool ``name`` again, and never answers."""

    def __init__(self, name: str, **arguments: Any) -> None:
        super().__init__()
        self._block = use(name, **arguments)

    def __call__(self, key: str, question: Question) -> dict[str, Any]:
        self.requests.append(dict(question.params))
        return {"role": "assistant", "model": "m", "content": [self._block]}


@pytest.mark.requirement("I12.3.82")
@pytest.mark.parametrize("depth", [1, 3])
async def test_a_model_that_always_asks_for_another_sub_agent_gets_none_and_is_stopped(
    folder: Path, depth: int
) -> None:
    model = Endless("Task", **ARGUMENTS)
    limits = {"subagents": {"iterations": 5, "depth": depth}}
    async with workspace_tools(folder, config={"limits": limits}) as tools:
        result = await asked(tools, model)
    assert result.result["stopped"] == "limits.subagents.iterations (5) was reached"
    assert len(model.requests) == 6
    assert all("limits.subagents.depth" in given(each)[0][0] for each in model.requests[1:])
    assert all(given(each)[0][1] for each in model.requests[1:])


@pytest.mark.requirement("I12.3.82")
@pytest.mark.parametrize(
    ("limits", "stopped", "most"),
    [
        ({}, "limits.subagents.iterations (30) was reached", 31),
        ({"calls": 4}, "limits.subagents.calls (4) was reached", 5),
        ({"tokens": 1_000}, "limits.subagents.tokens (1,000) was reached", 10),
        ({"seconds": 0.001}, "limits.subagents.seconds (0.001) was reached", 30),
    ],
)
async def test_a_model_that_never_ends_is_stopped_by_each_limit_which_is_named(
    folder: Path, limits: dict[str, Any], stopped: str, most: int
) -> None:
    model = Endless("Read", file_path="a.txt")
    async with workspace_tools(folder, config={"limits": {"subagents": limits}}) as tools:
        result = await asked(tools, model)
    assert result.result["stopped"] == stopped
    assert len(model.requests) <= most
    assert model.requests[-1]["toolChoice"] == {"mode": "none"}


@pytest.mark.requirement("I12.3.82")
async def test_a_client_that_comes_again_without_end_is_stopped_too(folder: Path) -> None:
    model = Endless("Read", file_path="a.txt")
    async with workspace_tools(folder, config={"limits": {"subagents": {"iterations": 3}}}) as tools:
        result, rounds = await in_rounds(tools.runtime.snapshot.executor, "Task", ARGUMENTS, model)
    assert result.result["stopped"] == "limits.subagents.iterations (3) was reached"
    assert len(rounds) == 4


@pytest.mark.requirement("I12.3.82")
async def test_a_client_that_never_answers_ends_the_call_with_the_limits_name(folder: Path) -> None:
    class Silent(Waiting):
        @override
        async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
            await anyio.sleep_forever()
            raise AssertionError

    async with workspace_tools(folder, config={"limits": {"answer_seconds": 0.1}}) as tools:
        result = await tools.runtime.execute("Task", ARGUMENTS, Context(LOCAL, client=Silent()))
    assert (result.error_code, "limits.answer_seconds" in result.error) == ("no_answer", True)
