"""Anthropic's own tools: settings, models that lack them, and the search among many tools of ours."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import said, succeeded
from tests.support.provider_rules.anthropic import check_request
from tests.support.wires.anthropic import USE, events, message, sse
from toolspan_bridge.formats import anthropic, defers_tools, request_notes
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, ToolResults, ToolSpec, User

MODEL = "claude-sonnet-4-5"
MANY = tuple(ToolSpec("s", f"tool{number:03}", "d", {"type": "object"}) for number in range(40))


def body(*messages: Any, model: str = MODEL, **options: Any) -> dict[str, Any]:
    asked = Request(model, messages or (User("hi"),), **options)
    sent = anthropic.render_request(asked, NameTable.of(asked.tools))
    check_request(sent)
    return sent


def search(**settings: Any) -> dict[str, Any]:
    sent = body(builtins=("web_search",), builtin_options={"web_search": settings})
    return {key: each for key, each in sent["tools"][0].items() if key not in ("name", "type")}


@pytest.mark.requirement("I11.3.22")
def test_a_search_has_a_place_and_domains() -> None:
    oslo = {"city": "Oslo", "country": "NO"}
    there = {"user_location": {"type": "approximate", **oslo}}
    assert search(user_location=oslo) == search(**oslo) == there
    assert search(allowed_domains=["a.test"], max_uses=2) == {"allowed_domains": ["a.test"], "max_uses": 2}
    assert search(blocked_domains=["b.test"]) == {"blocked_domains": ["b.test"]}
    assert search() == search(city="", colour="red") == {}
    asked = Request(
        MODEL, (User("hi"),), builtins=("web_search",), builtin_options={"web_search": {"latitude": 1}}
    )
    assert request_notes("anthropic", asked) == ("Anthropic's web_search takes no latitude: left out",)


@pytest.mark.requirement("I11.3.22")
def test_of_both_lists_of_domains_the_allowed_ones_are_sent() -> None:
    both = {"allowed_domains": ["a.test"], "blocked_domains": ["b.test"]}
    assert search(**both) == {"allowed_domains": ["a.test"]}
    asked = Request(MODEL, (User("hi"),), builtins=("web_search",), builtin_options={"web_search": both})
    assert "blocked ones are left out" in request_notes("anthropic", asked)[0]


@pytest.mark.requirement("I11.3.22")
def test_a_model_gets_only_the_tools_that_it_has() -> None:
    every = ("web_search", "web_fetch", "code_execution")
    assert [tool["name"] for tool in body(builtins=every)["tools"]] == list(every)
    old = Request("claude-3-5-haiku-20241022", (User("hi"),), builtins=every)
    assert [tool["name"] for tool in body(builtins=every, model=old.model)["tools"]] == ["web_search"]
    assert [note.split(" of its own")[0] for note in request_notes("anthropic", old)] == [
        f"{old.model} has no web_fetch",
        f"{old.model} has no code_execution",
    ]


@pytest.mark.requirement("I11.3.3")
def test_tools_beyond_a_number_are_left_to_the_models_search() -> None:
    sent = body(tools=MANY, defer_tools=10)["tools"]
    assert [tool.get("defer_loading", False) for tool in sent] == [False] * 10 + [True] * 30 + [False]
    assert sent[-1]["type"] == "tool_search_tool_bm25_20251119"
    chosen = body(tools=MANY, defer_tools=10, tool_choice=("s", "tool020"))["tools"]
    assert sum("defer_loading" in tool for tool in chosen) == 29
    for plain in ({"defer_tools": None}, {"defer_tools": 40}, {"defer_tools": 1, "model": "claude-opus-4-1"}):
        assert "defer_loading" not in str(body(tools=MANY, **plain))
    assert defers_tools("anthropic", MODEL) and not defers_tools("bedrock-anthropic", MODEL)


@pytest.mark.requirement("I11.3.3")
@pytest.mark.parametrize("streamed", [False, True])
def test_a_tool_that_was_found_is_called_and_answered(streamed: bool) -> None:
    asked = {"type": "server_tool_use", "id": "srvtoolu_9", "name": "tool_search_tool_bm25", "input": {}}
    found = {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_9",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "s__tool030"}],
        },
    }
    use = {**USE, "name": "s__tool030"}
    whole = message(asked, found, use, stop="tool_use")
    parser = anthropic.parse_stream()
    for event in events(whole):
        parser.feed(sse(event))
    reply = parser.end() if streamed else anthropic.parse_reply(whole)
    assert [call.name for call in reply.message.calls] == ["s__tool030"]
    answered = ToolResults((succeeded(said("7"), call_id="c1"),))
    sent = body(User("hi"), reply.message, answered, tools=MANY, defer_tools=10)["messages"]
    assert sent[1]["content"] == [asked, found, use]
