"""Tools that come, go and change while a session lasts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tests.support.asking import heard
from tests.support.mcp_peers import talker
from tests.support.waiting import BOUND_S
from toolspan_bridge import Conversation, End, Notice, Question, Scripted, Toolbox, ToolCallFinished, run
from toolspan_bridge.approvals import PolicyApprover
from toolspan_bridge.toolbox import servers_of
from toolspan_server.config import load_config

pytestmark = [pytest.mark.long, pytest.mark.anyio]
WAYS = [("old", ""), ("new", ""), ("old", "undeclared"), ("new", "undeclared")]


async def until(holds: Callable[[], bool]) -> None:
    """Return once ``holds``; the caller bounds the time."""
    while not holds():  # noqa: ASYNC110 - what is waited for happens in another process
        await anyio.sleep(0.01)


def names(toolbox: Toolbox) -> set[str]:
    return {tool.name for tool in toolbox.tools}


@pytest.mark.requirement("I12.2.16")
@pytest.mark.parametrize(("era", "mood"), WAYS)
async def test_the_tools_follow_the_list_of_the_server(era: str, mood: str) -> None:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([talker(era, mood)], connect_timeout=BOUND_S) as toolbox:
            derived = toolbox.for_models()
            before = derived.tools
            assert derived.tools is before
            await heard(toolbox, "grow")
            await until(lambda: "grown_0" in names(derived))
            grown = next(tool for tool in toolbox.tools if tool.name == "grown_0")
            assert toolbox.definition(grown).description == "The tool grown_0."
            assert toolbox.take_news() == ["the server 'talker' has new tools: grown_0"]
            assert (await heard(toolbox, "grown_0")).value == "grown_0"
            await heard(toolbox, "shrink")
            await until(lambda: "grown_0" not in names(toolbox))
            assert toolbox.take_news() == ["the server 'talker' has no longer: grown_0"]
            gone = await toolbox.call(grown, {}, "1")
    assert gone.result["error_code"] == "tool_not_found"
    assert gone.result["error"] == "Tool 'grown_0' is no longer offered by the server 'talker'"


@pytest.mark.requirement("I12.2.17")
async def test_a_conversation_is_offered_what_comes_and_told_what_changed() -> None:
    class Watching(Scripted):
        """Notes which tools each request has."""

        offered: list[set[str]] = []  # noqa: RUF012 - of this one test

        async def answer(self, request):  # type: ignore[no-untyped-def]
            self.offered.append({tool.name for tool in request.tools})
            if len(self.offered) == 2:
                await until(lambda: "grown_0" in names(toolbox))
            return await super().answer(request)

    turns = [
        {"calls": [{"tool": "grow", "arguments": {}}]},
        {"calls": [{"tool": "told", "arguments": {}}]},
        {"calls": [{"tool": "grown_0", "arguments": {}}]},
        {"text": "done"},
    ]
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([talker("old")], connect_timeout=BOUND_S) as toolbox:
            conversation = Conversation()
            question, approver = Question("Go", "m"), PolicyApprover("never", outward="allow")
            events = [
                event
                async for event in run(question, Watching(turns), toolbox, conversation, approver=approver)
            ]
    assert isinstance(events[-1], End) and events[-1].answer.content == "done"
    assert "grown_0" not in Watching.offered[0] and "grown_0" in Watching.offered[2]
    assert Watching.offered[0] < Watching.offered[2]
    results = [event.outcome.result for event in events if isinstance(event, ToolCallFinished)]
    assert results[-1]["result"] == "grown_0"
    told = [event.text for event in events if isinstance(event, Notice)]
    assert "The server 'talker' has new tools: grown_0" in told


@pytest.mark.requirement("I12.2.17")
async def test_a_resource_that_changes_is_told() -> None:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([talker("old")], connect_timeout=BOUND_S) as toolbox:
            for _ in range(2):
                await heard(toolbox, "update")
            await heard(toolbox, "told")
            (news,) = toolbox.take_news()
            assert news.startswith("the resource note:1 of the server 'talker' has changed")
            assert toolbox.take_news() == []


@pytest.mark.long
@pytest.mark.requirement("I12.2.81")
@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_resource_is_followed_after_its_server_was_started_again(era: str) -> None:
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect([talker(era)], connect_timeout=BOUND_S) as toolbox:
            assert await toolbox.contents.subscribe("talker", "note:1")
            await heard(toolbox, "die")
            while not json.loads((await heard(toolbox, "told")).value)["subscribed"]:  # noqa: ASYNC110
                await anyio.sleep(0.02)
            await heard(toolbox, "update")
            await heard(toolbox, "told")
            (news,) = toolbox.take_news()
    assert news.startswith("the resource note:1 of the server 'talker' has changed")


@pytest.mark.long
@pytest.mark.requirement("I12.2.81")
async def test_a_file_of_our_own_server_that_changes_is_told(tmp_path: Path) -> None:
    path, note = tmp_path / "toolspan.json", tmp_path / "note.txt"
    note.write_text("Buy milk.")
    tool = {"name": "t", "description": "x", "implementation": {"type": "mock", "mock_response": 1}}
    resource = {"uri": "note:own", "name": "note", "file": "note.txt"}
    path.write_text(json.dumps({"version": 1, "tools": {"registry": [tool]}, "resources": [resource]}))
    with anyio.fail_after(BOUND_S):
        servers = servers_of(load_config(path))
        async with Toolbox.connect(servers, connect_timeout=BOUND_S) as toolbox:
            (server,) = toolbox.contents.servers
            (before,) = await toolbox.contents.read(server, "note:own")
            assert await toolbox.contents.subscribe(server, "note:own")
            note.write_text("Buy bread, and butter.")
            news: list[str] = []
            while not news:
                news = toolbox.take_news()
                await anyio.sleep(0.02)
            (after,) = await toolbox.contents.read(server, "note:own")
    assert (before["text"], after["text"]) == ("Buy milk.", "Buy bread, and butter.")
    assert f"the resource note:own of the server {server!r} has changed" in news[0]


@pytest.mark.long
@pytest.mark.requirement("I12.2.16")
async def test_a_changed_config_changes_the_tools_of_our_own_server(tmp_path: Path) -> None:
    path = tmp_path / "toolspan.json"

    def write(*tools: str) -> None:
        registry = [
            {"name": name, "description": "x", "implementation": {"type": "mock", "mock_response": name}}
            for name in tools
        ]
        path.write_text(json.dumps({"version": 1, "name": "mine", "tools": {"registry": registry}}))

    write("one")
    with anyio.fail_after(BOUND_S):
        async with Toolbox.connect(servers_of(load_config(path)), connect_timeout=BOUND_S) as toolbox:
            assert names(toolbox) == {"one"}
            write("one", "two")
            await until(lambda: "two" in names(toolbox))
            assert (await heard(toolbox, "two")).value == "two"
