"""A session over six servers that others wrote: in code, by ``ask``, and by ``chat`` at a terminal."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from tests.support.cli import toolspan_process
from tests.support.foreign_calls import first_turn, page, second_turn
from tests.support.foreign_servers import foreign_servers
from tests.support.terminal import Terminal
from tests.support.waiting import BOUND_S
from toolspan_bridge.approvals.approver import PolicyApprover
from toolspan_bridge.events import End, ToolCallFinished
from toolspan_bridge.loop import Question, run
from toolspan_bridge.messages import Assistant, Message, ToolResults
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.toolbox import Toolbox
from toolspan_bridge.toolbox.servers import servers_of
from toolspan_server.config import load_config

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.xdist_group("foreign"),
    pytest.mark.requirement("I12.7.2"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    servers = foreign_servers(tmp_path)
    config = {"limits": {"connect_seconds": BOUND_S}, "mcpServers": servers}
    (tmp_path / "toolspan.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def scripted(*turns: list[tuple[str, str, dict[str, Any], str]]) -> list[dict[str, Any]]:
    """A model that makes the calls of each of ``turns``, and then answers."""
    made = [
        [{"tool": f"{server}__{tool}", "arguments": arguments} for server, tool, arguments, _ in turn]
        for turn in turns
    ]
    return [*({"calls": calls} for calls in made), {"text": "Done."}]


@pytest.mark.anyio
async def test_a_conversation_over_six_foreign_servers_has_a_result_for_each_call(place: Path) -> None:
    config = load_config(place / "toolspan.yaml")
    transcript: list[Message] = []
    with page() as url, anyio.fail_after(BOUND_S):
        turns = [first_turn(place, url), second_turn(place)]
        async with Toolbox.connect(servers_of(config)) as toolbox:
            assert toolbox.failures == ()
            assert {tool.server for tool in toolbox.tools} == set(config.mcp_servers)
            model = Scripted(scripted(*turns))
            question = Question("Try them all.", "m", max_iterations=5)
            approver = PolicyApprover("never", ["*"])
            async with aclosing(run(question, model, toolbox, transcript, approver=approver)) as events:
                seen = [event async for event in events]
    assert isinstance(seen[-1], End) and seen[-1].answer.content == "Done."
    finished = [event for event in seen if isinstance(event, ToolCallFinished)]
    assert len(finished) == sum(map(len, turns))
    for turn, calls, results in zip(
        turns,
        [message for message in transcript if isinstance(message, Assistant) and message.calls],
        [message for message in transcript if isinstance(message, ToolResults)],
        strict=True,
    ):
        assert [outcome.call_id for outcome in results.outcomes] == [call.id for call in calls.calls]
        for (server, tool, _, expected), outcome in zip(turn, results.outcomes, strict=True):
            whole = str(outcome)
            assert expected in whole, f"{server} {tool}: {whole[:2000]}"
            assert outcome.result["success"] == (expected != "denied")


def test_ask_calls_tools_of_each_and_says_what_came_of_it(place: Path) -> None:
    with page() as url:
        turns = [first_turn(place, url), second_turn(place)]
        (place / "script.yaml").write_text(yaml.safe_dump({"turns": scripted(*turns)}))
        done = toolspan_process(
            *("ask", "Try them all.", "--model", "scripted/script.yaml", "--approve", "*", "--json"),
            *("--config", "toolspan.yaml"),
            cwd=place,
        )
    assert done.code == 0, done.err
    assert done.json["content"] == "Done."
    expected = [(tool, words) for turn in turns for _, tool, _, words in turn]
    for (tool, words), use in zip(expected, done.json["tool_calls"], strict=True):
        assert (use["tool"], words in json.dumps(use["result"])) == (tool, True), use


def test_a_chat_goes_on_over_the_same_servers(place: Path) -> None:
    with page() as url:
        turns = [*scripted(first_turn(place, url)), *scripted(second_turn(place))]
        turns[1]["text"], turns[3]["text"] = "First done.", "Second done."
        (place / "script.yaml").write_text(yaml.safe_dump({"turns": turns}))
        options = ("--approve", "*", "--config", "toolspan.yaml")
        with Terminal("chat", "--model", "scripted/script.yaml", *options, cwd=place) as terminal:
            terminal.until("you>")
            terminal.type("Try the first ones.\r")
            terminal.until("First done.")
            terminal.type("And the others.\r")
            terminal.until("search_nodes(query=tides): ")
            terminal.until("Second done.")
            terminal.until("you>")
            terminal.type("\x04")
            assert terminal.ended() == 0
