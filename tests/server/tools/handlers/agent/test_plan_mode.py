"""In plan mode a conversation changes nothing, until a person approves the plan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.asked_client import Again, Waiting, declining
from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import Context
from toolspan_server.calls.caller import CONVERSATION_KEY, LOCAL
from toolspan_server.calls.client import Client, InputRequired, Question
from toolspan_server.calls.results import ToolResult

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.3.42")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.txt": "one\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        yield found


def saying(answer: str, reason: str = "") -> Waiting:
    """A client whose person says that about the plan."""

    def answered(_key: str, _question: Question) -> dict[str, Any]:
        return {"action": "accept", "content": {"answer": answer, "reason": reason}}

    return Waiting(answered)


async def shown(tools: WorkspaceTools, client: Client, conversation: str = "c") -> ToolResult:
    """The result of showing a plan to the person at ``client``."""
    context = Context(LOCAL, meta={CONVERSATION_KEY: conversation}, client=client)
    return await tools.runtime.execute("ExitPlanMode", {"plan": "1. Change a.txt"}, context)


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("Write", {"file_path": "new.txt", "content": "x"}),
    ("Edit", {"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x", "edit_mode": "insert"}),
    ("Bash", {"command": "touch new.txt"}),
    ("KillShell", {"shell_id": "bash_1"}),
    ("Undo", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), CHANGES)
async def test_what_changes_something_is_refused_while_the_conversation_plans(
    tools: WorkspaceTools, folder: Path, tool: str, arguments: dict[str, Any]
) -> None:
    assert await tools.planning() == {"plan_mode": True, "already": False}
    assert (await tools.refused(tool, "c", **arguments)).startswith(f"plan_mode: {tool} is not available")
    assert "one" in await tools.good("Read", "c", file_path="a.txt")
    assert names_in(folder) == ["a.txt"]


async def test_each_tool_that_is_not_read_only_is_refused(tools: WorkspaceTools) -> None:
    annotations = {tool.name: tool.config.annotations for tool in tools.runtime.registry}
    changing = {name for name, hints in annotations.items() if hints is None or not hints.read_only}
    assert changing - {"Task"} == {tool for tool, _ in CHANGES}


async def test_another_conversation_does_not_plan(tools: WorkspaceTools) -> None:
    await tools.planning()
    await tools.good("Write", "other", file_path="new.txt", content="x")


async def test_an_approved_plan_ends_the_mode(tools: WorkspaceTools) -> None:
    await tools.planning()
    client = saying("Yes")
    assert (await shown(tools, client)).result == {"approved": True, "plan_mode": False}
    assert "1. Change a.txt" in client.asked["plan"].params["message"]
    await tools.good("Write", "c", file_path="new.txt", content="x")


@pytest.mark.parametrize(
    ("client", "why"),
    [
        (saying("No, go on planning", "name the tests"), "name the tests"),
        (Waiting(declining), "declined"),
        (Waiting(lambda *_: {"action": "cancel"}), "did not answer"),
        (None, "does not support elicitation"),
    ],
)
async def test_without_approval_the_mode_goes_on_and_the_model_reads_why(
    tools: WorkspaceTools, client: Waiting | None, why: str
) -> None:
    await tools.planning()
    result = await (shown(tools, client) if client else tools.result("ExitPlanMode", "c", plan="p"))
    assert result.error_code == "plan_not_approved"
    assert why in result.error
    assert (await tools.refused("Write", "c", file_path="n", content="x")).startswith("plan_mode: ")


async def test_a_client_that_cannot_ask_does_not_enter_what_it_could_not_leave(
    tools: WorkspaceTools, folder: Path
) -> None:
    refused = await tools.refused("EnterPlanMode", "c")
    assert refused.startswith("client_cannot_answer: ") and "elicitation" in refused
    await tools.good("Write", "c", file_path="new.txt", content="x")
    assert sorted(names_in(folder)) == ["a.txt", "new.txt"]


async def test_a_client_that_comes_again_with_the_answer_leaves_the_mode(tools: WorkspaceTools) -> None:
    await tools.planning()
    with pytest.raises(InputRequired) as asked:
        await shown(tools, Again({}, {}))
    assert list(asked.value.questions) == ["plan"]
    answers = {"plan": {"action": "accept", "content": {"answer": "Yes"}}}
    assert (await shown(tools, Again(answers, {}))).success


async def test_the_mode_is_still_there_after_a_restart(folder: Path) -> None:
    async with workspace_tools(folder) as tools:
        await tools.planning()
    async with workspace_tools(folder) as tools:
        assert (await tools.refused("Write", "c", file_path="n", content="x")).startswith("plan_mode: ")
        assert (await tools.planning())["already"] is True


async def test_a_plan_can_be_shown_only_in_plan_mode(tools: WorkspaceTools) -> None:
    assert (await tools.refused("ExitPlanMode", "c", plan="p")).startswith("not_in_plan_mode: ")
