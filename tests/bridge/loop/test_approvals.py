"""Calls that need approval: asked about before they are made, and answered whatever the answer is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge import (
    Approval,
    ApprovalRequest,
    Approver,
    Conversation,
    Event,
    Question,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    Toolbox,
    ToolCallFinished,
    ToolCallStarted,
    ToolResults,
    Unattended,
    answer,
    own_server,
    run,
)
from toolspan_bridge.approvals import reason_to_ask
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_server import load_config
from toolspan_server.engines.upstreams import ListedTool

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I12.1.1")]

_TOOLS = """
version: 1
name: own
tools:
  registry:
    - name: look
      description: Looks.
      parameters: {type: object, properties: {place: {type: string}}}
      implementation: {type: builtin, handler: echo}
    - name: remove
      description: Removes.
      annotations: {destructive: true}
      parameters: {type: object, properties: {place: {type: string}}, required: [place]}
      implementation: {type: builtin, handler: echo}
    - name: guarded
      description: Asks each time.
      approval: true
      parameters: {type: object}
      implementation: {type: builtin, handler: echo}
"""


class Answering:
    """An approver that gives each request the next of ``answers``."""

    def __init__(self, *answers: Approval) -> None:
        self.requests: list[ApprovalRequest] = []
        self._answers = list(answers)

    def reason_to_ask(self, server: str, tool: ListedTool, arguments: Mapping[str, Any]) -> str:
        return reason_to_ask(tool, "destructive")

    async def decide(self, request: ApprovalRequest) -> Approval:
        self.requests.append(request)
        return self._answers.pop(0)


YES = Approval(allowed=True, decider="person")
NO = Approval(allowed=False, decider="person")


@asynccontextmanager
async def toolbox(folder: Path) -> AsyncGenerator[Toolbox]:
    path = folder / "tools.yaml"
    path.write_text(_TOOLS)
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([own_server(load_config(path))], connect_timeout=BOUND_S) as box:
            assert not box.failures
            yield box


def calling(*calls: tuple[str, Any]) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in calls]}


async def happened(
    folder: Path, turns: list[Any], approver: Approver | None, transcript: Conversation | None = None
) -> list[Event]:
    async with toolbox(folder) as box:
        events = run(Question("?", "m"), Scripted(turns), box, transcript, approver=approver)
        async with aclosing(events):
            return [event async for event in events]


def outcomes(events: list[Event]) -> dict[str, Mapping[str, Any]]:
    return {event.tool: event.outcome.result for event in events if isinstance(event, ToolCallFinished)}


async def test_without_an_approver_destructive_tools_are_denied_and_others_run(tmp_path: Path) -> None:
    turn = calling(("look", {}), ("remove", {"place": "here"}), ("guarded", {}))
    results = outcomes(await happened(tmp_path, [turn, {"text": "done"}], None))
    assert results["look"]["success"]
    for name in ("remove", "guarded"):
        assert results[name]["error_code"] == "denied"
        assert results[name]["error"].startswith("Tool execution denied by user: ")
        assert "nobody to ask" in results[name]["error"]


async def test_the_request_and_its_answer_are_events_between_the_start_and_the_end_of_a_call(
    tmp_path: Path,
) -> None:
    turns = [calling(("remove", {"place": "here"})), {"text": "done"}]
    events = await happened(tmp_path, turns, Answering(YES))
    of_call = (ToolCallStarted, ToolApprovalRequest, ToolApprovalAnswer, ToolCallFinished)
    seen = [event for event in events if isinstance(event, of_call)]
    assert [type(event) for event in seen] == [*of_call]
    _, asked, given, finished = seen
    assert isinstance(asked, ToolApprovalRequest) and isinstance(given, ToolApprovalAnswer)
    assert asked.as_dict() == {
        "type": "tool_approval_request",
        "tool_use_id": asked.call_id,
        "tool_name": "remove",
        "tool_input": {"place": "here"},
        "server": "own",
        "reason": "the tool says that it may destroy or overwrite data",
    }
    assert given.as_dict() == {
        "type": "tool_approval_answer",
        "tool_use_id": asked.call_id,
        "tool_name": "remove",
        "allowed": True,
        "decider": "person",
        "scope": "once",
    }
    assert isinstance(finished, ToolCallFinished) and finished.outcome.result["success"]


async def test_a_denied_call_is_not_made_and_the_model_is_told_why(tmp_path: Path) -> None:
    no = Approval(allowed=False, decider="person", reason="use the test folder")
    provider = Scripted([calling(("remove", {"place": "here"})), {"text": "done"}])
    async with toolbox(tmp_path) as box:
        await answer(Question("?", "m"), provider, box, approver=Answering(no))
    message = provider.requests[1].messages[-1]
    assert isinstance(message, ToolResults)
    assert message.outcomes[0].result["error"] == "Tool execution denied by user: use the test folder"


async def test_a_denial_without_a_reason_has_the_fixed_text(tmp_path: Path) -> None:
    events = await happened(tmp_path, [calling(("remove", {"place": "x"})), {"text": "ok"}], Answering(NO))
    assert outcomes(events)["remove"]["error"] == "Tool execution denied by user"


async def test_changed_arguments_are_called_with_and_shown_to_the_model(tmp_path: Path) -> None:
    changed = Approval(allowed=True, decider="person", arguments={"place": "there"})
    provider = Scripted([calling(("remove", {"place": "here"})), {"text": "done"}])
    async with toolbox(tmp_path) as box:
        told = await answer(Question("?", "m"), provider, box, approver=Answering(changed))
    assert told.tool_calls[0].result["result"] == {"echo": {"place": "there"}}
    message = provider.requests[1].messages[-1]
    assert isinstance(message, ToolResults)
    assert "The user changed the arguments" in json.dumps([part.data for part in message.outcomes[0].parts])


async def test_changed_arguments_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    changed = Approval(allowed=True, decider="person", arguments={"place": 5})
    events = await happened(
        tmp_path, [calling(("remove", {"place": "x"})), {"text": "ok"}], Answering(changed)
    )
    assert outcomes(events)["remove"]["error_code"] == "invalid_parameters"
    assert "as the user changed them" in outcomes(events)["remove"]["error"]


@pytest.mark.requirement("I12.5.1")
async def test_calls_that_need_no_approval_end_while_another_waits_for_it(tmp_path: Path) -> None:
    looked = anyio.Event()

    class Waiting(Answering):
        async def decide(self, request: ApprovalRequest) -> Approval:
            await looked.wait()
            return await super().decide(request)

    turns = [calling(("remove", {"place": "x"}), ("look", {})), {"text": "done"}]
    finished: list[str] = []
    async with toolbox(tmp_path) as box:
        events = run(Question("?", "m"), Scripted(turns), box, approver=Waiting(YES))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, ToolCallFinished):
                    finished.append(event.tool)
                    looked.set()
    assert finished == ["look", "remove"]


async def test_a_run_that_is_left_while_a_call_waits_has_one_cancelled_result(tmp_path: Path) -> None:
    class Never(Answering):
        async def decide(self, request: ApprovalRequest) -> Approval:
            await anyio.sleep_forever()
            raise AssertionError

    talk = Conversation()
    turns = [calling(("remove", {"place": "x"})), {"text": "done"}]
    async with toolbox(tmp_path) as box:
        events = run(Question("?", "m"), Scripted(turns), box, talk, approver=Never())
        async with aclosing(events):
            async for event in events:
                if isinstance(event, ToolApprovalRequest):
                    break
    results = talk.messages[-1]
    assert isinstance(results, ToolResults)
    assert [outcome.result["error_code"] for outcome in results.outcomes] == ["cancelled"]


async def test_an_approver_that_fails_ends_the_run_with_its_own_error_and_every_call_has_a_result(
    tmp_path: Path,
) -> None:
    talk = Conversation()
    with pytest.raises(IndexError):
        await happened(tmp_path, [calling(("look", {}), ("remove", {"place": "x"}))], Answering(), talk)
    results = talk.messages[-1]
    assert isinstance(results, ToolResults) and len(results.outcomes) == 2


async def test_the_answer_is_kept_in_the_saved_conversation(tmp_path: Path) -> None:
    talk = Conversation()
    await happened(tmp_path, [calling(("remove", {"place": "x"})), {"text": "ok"}], Answering(NO), talk)
    loaded = Conversation.from_json(talk.to_json())
    results = next(message for message in loaded.messages if isinstance(message, ToolResults))
    assert results.outcomes[0].approval == {"allowed": False, "decider": "person", "scope": "once"}


async def test_a_tool_named_beforehand_runs_unattended(tmp_path: Path) -> None:
    turn = calling(("remove", {"place": "x"}))
    for pattern in ("remove", "own/*", "re*"):
        results = outcomes(await happened(tmp_path, [turn, {"text": "ok"}], Unattended(allowed=[pattern])))
        assert results["remove"]["success"], pattern
    results = outcomes(await happened(tmp_path, [turn, {"text": "ok"}], Unattended(allowed=["other/*"])))
    assert results["remove"]["error_code"] == "denied"


@pytest.mark.parametrize(
    ("policy", "denied"), [("never", []), ("always", ["look", "remove"]), ("destructive", ["remove"])]
)
async def test_the_policy_says_which_calls_need_approval(
    tmp_path: Path, policy: Any, denied: list[str]
) -> None:
    turn = calling(("look", {}), ("remove", {"place": "x"}))
    results = outcomes(await happened(tmp_path, [turn, {"text": "ok"}], Unattended(policy)))
    assert sorted(name for name, result in results.items() if not result["success"]) == denied


@pytest.mark.requirement("I12.5.1")
async def test_a_tool_that_is_not_idempotent_runs_alone(tmp_path: Path) -> None:
    path = tmp_path / "tools.yaml"
    path.write_text(_TOOLS.replace("destructive: true", "idempotent: false"))
    turns = [calling(("look", {"place": "a"}), ("remove", {"place": "x"}), ("look", {})), {"text": "done"}]
    async with Toolbox.connect([own_server(load_config(path))], connect_timeout=BOUND_S) as box:
        events = run(Question("?", "m"), Scripted(turns), box)
        async with aclosing(events):
            order = [event.tool async for event in events if isinstance(event, ToolCallFinished)]
    assert order == ["look", "remove", "look"]
