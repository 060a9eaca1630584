"""More tools than may be offered at once: they are found, not dropped."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S
from tests.support.wire_peers import FORMATS, Peer, streamed, wires
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import Answer
from toolspan_bridge.formats import defers_tools, max_tools
from toolspan_bridge.loop import Question, answer
from toolspan_bridge.loop._tool_search import MOST_FOUND, best
from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.providers.catalog.scripted import Scripted
from toolspan_bridge.routes import route
from toolspan_bridge.toolbox import Toolbox
from toolspan_server.config import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.3")]

SEARCH = "tool_search__search_tools"
OWN = [wire for wire in FORMATS if not defers_tools(wire, "m1")]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def box() -> AsyncIterator[Toolbox]:
    async with Toolbox.connect([raw()]) as toolbox:
        yield toolbox


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "arguments": arguments}]}


async def asked(
    box: Toolbox, *turns: Any, talk: Conversation | None = None, offered: int | None = 3, **more: Any
) -> tuple[Answer, list[list[str]]]:
    provider = Scripted(turns)
    question = Question("What now?", "m1", tools_offered=offered, **more)
    with anyio.fail_after(BOUND_S):
        told = await answer(question, provider, box, talk)
    return told, [[tool.name for tool in request.tools] for request in provider.requests]


async def test_what_is_found_can_be_called_in_the_next_turn_and_comes_last(box: Toolbox) -> None:
    turns = [call("search_tools", query="echo"), call("echo", n=1), {"text": "done"}]
    talk = Conversation()
    told, offered = await asked(box, *turns, talk=talk)
    search, made = told.tool_calls
    assert search.result["success"] and search.result["tool_name"] == "search_tools"
    assert search.result["result"]["tools"][0]["name"] == "raw__echo"
    assert made.result["result"] == '{"n": 1}'
    assert offered[0] == ["search_tools"] and offered[1][:2] == ["search_tools", "echo"]
    assert offered[2] == offered[1] and len(offered[1]) <= 3
    again = Conversation.from_json(talk.to_json())
    _, later = await asked(box, {"text": "hi"}, talk=again)
    assert later == [offered[1]]


async def test_with_few_tools_there_is_no_search(box: Toolbox) -> None:
    _, offered = await asked(box, {"text": "hi"}, allowed_tools=("echo", "two_texts"))
    assert offered == [["echo", "two_texts"]]
    _, offered = await asked(box, {"text": "hi"}, offered=None)
    assert "search_tools" not in offered[0] and len(offered[0]) == len(box.tools)


async def test_the_limit_holds_and_a_search_that_finds_nothing_says_so(box: Toolbox) -> None:
    turns = [
        call("search_tools", query="texts"),
        call("search_tools", query="echo error image texts meet"),
        call("search_tools", query="zyzzyva"),
        {"text": "done"},
    ]
    told, offered = await asked(box, *turns, offered=2)
    assert [len(names) for names in offered] == [1, 2, 2, 2]
    assert "No further tool" in told.tool_calls[1].result["result"]["note"]
    assert told.tool_calls[2].result["result"]["tools"] == []
    assert "try other words" in told.tool_calls[2].result["result"]["note"]


async def test_a_tool_that_is_called_unseen_is_made_and_one_that_is_not_allowed_is_not(box: Toolbox) -> None:
    turns = [call("raw__echo", n=1), call("raw__error_text"), {"text": "done"}]
    allowed = ("echo", "two_texts", "meet", "image", "audio", "slow")
    told, offered = await asked(box, *turns, allowed_tools=allowed, offered=2)
    assert [use.result.get("error_code", "") for use in told.tool_calls] == ["", "tool_not_allowed"]
    assert offered[1] == ["search_tools", "echo"]


async def test_the_query_is_checked_as_any_argument(box: Toolbox) -> None:
    told, _ = await asked(box, call("search_tools", words="x"), {"text": "done"})
    assert told.tool_calls[0].result["error_code"] == "invalid_parameters"


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", OWN)
async def test_in_every_format_the_found_tool_is_in_the_second_request(
    wire: str, stream: bool, box: Toolbox
) -> None:
    turns: list[Any] = [
        ("", [("call_1", SEARCH, {"query": "echo"})]),
        ("", [("call_2", "raw__echo", {"n": 1})]),
        ("done", []),
    ]
    sent = [
        streamed(wire, *wires(wire).frames(*turn)) if stream else Sent(wires(wire).answer(*turn))
        for turn in turns
    ]
    with FakeProvider(anything, sent) as fake:
        async with aclosing(Peer(wire, fake.url)) as provider:
            question = Question("?", "m1", tools_offered=2, stream=stream)
            told = await answer(question, provider, box)
    assert (told.content, told.tool_calls[1].result["result"]) == ("done", '{"n": 1}')
    first, second, third = (json.loads(received.content) for received in fake.received)
    assert SEARCH in _tools(first) and "raw__" not in _tools(first)
    assert _tools(second).index(SEARCH) < _tools(second).index("raw__echo")
    assert _tools(second) == _tools(third)


def _tools(body: Any) -> str:
    return json.dumps(body.get("tools") or body["toolConfig"])


def test_the_limit_is_the_config_s_and_the_format_s() -> None:
    config = Config.model_validate({"limits": {"tools_offered": 20}})
    assert route(config, "x").question("x", "m").tools_offered == 20
    assert (max_tools("openai"), max_tools("gemini"), max_tools("ollama")) == (128, 512, None)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create an issue", "create_issue"),
        ("issues", "create_issue"),
        ("readFile", "read_file"),
        ("path of a directory", "list_directory"),
        ("do something other: directory", "list_directory"),
        ("wether", None),
        ("", None),
    ],
)
def test_the_best_tool_comes_first(query: str, first: str | None) -> None:
    tools = [
        ToolSpec("s", "create_issue", "Open a new issue in a repository", {}),
        ToolSpec("s", "read_file", "Read a file", {"properties": {"path": {}}}),
        ToolSpec("s", "list_directory", "List a directory", {"properties": {"path": {}}}),
        *(ToolSpec("s", f"other_{n}", "Do something else", {}) for n in range(20)),
    ]
    found = best(query, tools)
    assert (found[0].name if found else None) == first
    assert len(best("something", tools)) == MOST_FOUND
