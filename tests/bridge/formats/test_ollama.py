"""Ollama's ``/api/chat``: the exact wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import JPEG, PNG, failed, image, part, said, succeeded
from tests.support.provider_rules.ollama import check_request
from tests.support.wires.ollama import answer, line
from toolspan_bridge.formats import ollama
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.ollama.thinking import fitting
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Request,
    ToolCall,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.messages.deltas import CallDelta, ReasoningDelta, TextDelta

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("call_1", "s__t", {"city": "Oslo"})


def render(*messages: Message, **options: Any) -> dict[str, Any]:
    request = Request("qwen3", messages, tools=(TOOL,), **options)
    body = ollama.render_request(request, NameTable.of([TOOL]))
    check_request(body)
    return body


@pytest.mark.requirement("I2.6.5")
def test_a_tool_as_it_is_sent() -> None:
    assert ollama.render_tools([TOOL], NameTable.of([TOOL])) == [
        {
            "type": "function",
            "function": {
                "name": "s__t",
                "description": "d",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ]


def test_a_conversation_as_it_is_sent() -> None:
    results = ToolResults((succeeded(said("7 degrees"), call_id="call_1"),))
    body = render(User("hi"), Assistant("So.", (CALL,)), results, system="Be brief.")
    assert (body["model"], body["stream"]) == ("qwen3", False)
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "So.",
            "tool_calls": [
                {"id": "call_1", "function": {"index": 0, "name": "s__t", "arguments": {"city": "Oslo"}}}
            ],
        },
        {"role": "tool", "tool_name": "s__t", "tool_call_id": "call_1", "content": "7 degrees"},
    ]


def test_options_are_sent_only_when_set() -> None:
    assert "options" not in render(User("hi"))
    assert render(User("hi"), max_tokens=9, temperature=0.0)["options"] == {
        "num_predict": 9,
        "temperature": 0.0,
    }


def test_no_tool_choice_means_no_tools_and_a_forced_one_is_asked_for() -> None:
    assert "tools" not in render(User("hi"), tool_choice="none")
    forced = render(User("hi"), tool_choice="required", system="Be brief.")
    assert forced["messages"][0]["content"] == "Be brief.\n\nAnswer by calling one of the tools."


def test_thinking_is_sent_back_with_its_message_and_to_no_other_format() -> None:
    body = answer("So.", [("call_1", "s__t", {})])
    body["message"]["thinking"] = "hmm"
    said_so = ollama.parse_reply(body).message
    results = ToolResults((succeeded(call_id="call_1"),))
    assert render(User("hi"), said_so, results)["messages"][1]["thinking"] == "hmm"
    foreign = Assistant(said_so.text, said_so.calls, {"thinking": "hmm"}, "gemini")
    assert "thinking" not in render(User("hi"), foreign, results)["messages"][1]


def test_images_follow_in_one_message_as_bare_base64() -> None:
    results = ToolResults((succeeded(image(), image(JPEG, "image/jpeg"), call_id="call_1"),))
    messages = render(User("hi"), Assistant("", (CALL,)), results)["messages"]
    assert messages[2]["content"] == "[image/png follows below]\n\n[image/jpeg follows below]"
    assert messages[3] == {
        "role": "user",
        "content": "From the tool s__t: image/png\nFrom the tool s__t: image/jpeg",
        "images": [PNG, JPEG],
    }


def test_a_failure_is_marked_in_the_text() -> None:
    messages = render(User("hi"), Assistant("", (CALL,)), ToolResults((failed(call_id="call_1"),)))[
        "messages"
    ]
    assert messages[2]["content"] == "[tool error] it broke"


@pytest.mark.parametrize(("reason", "stop"), [("", "stop"), ("load", "other"), ("unload", "error")])
def test_reasons_to_stop(reason: str, stop: str) -> None:
    assert ollama.parse_reply({**answer("x"), "done_reason": reason}).stop == stop


def test_usage_keeps_counts_and_durations() -> None:
    (raw,) = ollama.parse_reply(answer("x")).usage.raw
    assert raw == {"prompt_eval_count": 11, "eval_count": 7, "total_duration": 5}
    bare = {"message": {"content": "x"}, "done": True}
    assert ollama.parse_reply(bare).usage.raw == ()


@pytest.mark.requirement("I5.1.1")
def test_a_forced_tool_is_sent_alone_and_asked_for() -> None:
    other = ToolSpec("s", "u", "", {"type": "object"})
    request = Request("qwen3", (User("hi"),), tools=(TOOL, other), tool_choice=("s", "t"), system="Be brief.")
    body = ollama.render_request(request, NameTable.of((TOOL, other)))
    check_request(body)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["s__t"]
    assert body["messages"][0]["content"] == "Be brief.\n\nAnswer by calling the tool s__t."


@pytest.mark.requirement("I5.1.2")
@pytest.mark.parametrize("stream", [True, False])
def test_whether_to_stream_is_always_said(stream: bool) -> None:
    assert render(User("hi"), stream=stream)["stream"] is stream


@pytest.mark.requirement("I5.1.4")
def test_pictures_of_a_question_stand_beside_its_text() -> None:
    question = User("Look:", (image(), part("audio", data="AAAA", mimeType="audio/wav"), image(JPEG)))
    (message,) = render(question)["messages"]
    assert message == {"role": "user", "content": "Look:\n\n[audio/wav omitted, 3 B]", "images": [PNG, JPEG]}
    (message,) = render(question, vision=False)["messages"]
    assert "images" not in message and message["content"].count("omitted") == 3


@pytest.mark.requirement("I5.1.3")
def test_thoughts_of_a_stream_are_sent_back() -> None:
    parser = ollama.parse_stream()
    for piece in ("Hm, ", "well."):
        parser.feed(line({"content": "", "thinking": piece}))
    parser.feed(
        line({"content": "So.", "tool_calls": answer("", [("c", "s__t", {})])["message"]["tool_calls"]})
    )
    parser.feed(line({"content": ""}, done=True, done_reason="stop"))
    sent = render(User("hi"), parser.end().message)["messages"][1]
    assert (sent["thinking"], sent["content"], sent["tool_calls"][0]["id"]) == ("Hm, well.", "So.", "c")


@pytest.mark.requirement("I5.1.2")
def test_what_is_shown_of_a_stream() -> None:
    parser = ollama.parse_stream()
    call = {"function": {"name": "s__t", "arguments": {"city": "Oslo"}}}
    deltas = parser.feed(line({"content": "So.", "thinking": "Hm.", "tool_calls": [call]}))
    assert deltas == [ReasoningDelta("Hm."), TextDelta("So."), CallDelta(0, "s__t", '{"city":"Oslo"}')]


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("model", "effort", "think"),
    [
        ("qwen3", "none", False),
        ("qwen3", "high", True),
        ("gpt-oss:20b", "none", "low"),
        ("library/gpt-oss", "medium", "medium"),
    ],
)
def test_an_effort_is_a_level_or_a_switch_by_the_models_family(model: str, effort: Any, think: Any) -> None:
    body = ollama.render_request(Request(model, (User("hi"),), reasoning=effort), NameTable.of(()))
    check_request(body)
    assert body["think"] == think
    assert "think" not in render(User("hi"))


@pytest.mark.requirement("I11.3.1")
@pytest.mark.parametrize(
    ("effort", "values", "think"),
    [
        ("none", (True, False), False),
        ("none", ("low", "high"), "low"),
        ("medium", (False, "low", "high"), "high"),
        ("high", ("low", "medium"), "medium"),
        ("low", (True, False), True),
        ("high", (False,), None),
    ],
)
def test_an_effort_is_the_nearest_of_what_a_model_lists(effort: Any, values: Any, think: Any) -> None:
    assert fitting(effort, values) == think


@pytest.mark.requirement("I11.3.4")
def test_a_schema_of_the_answer_is_the_format_and_beside_tools_asked_for() -> None:
    schema = {"type": "object", "properties": {"degrees": {"type": "integer"}}}
    alone = ollama.render_request(Request("qwen3", (User("hi"),), answer_schema=schema), NameTable.of(()))
    check_request(alone)
    assert alone["format"] == schema and len(alone["messages"]) == 1
    beside = render(User("hi"), answer_schema=schema)
    assert "format" not in beside and '"degrees"' in beside["messages"][0]["content"]
