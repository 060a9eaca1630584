"""Chat Completions: the exact wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import PNG, failed, image, said, succeeded
from tests.support.provider_rules.openai import check_request
from tests.support.wires.openai import answer
from toolspan_bridge.formats import FormatError, openai
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Message, Request, ToolCall, ToolResults, ToolSpec, User

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("call_1", "s__t", {"city": "Århus"})


def render(*messages: Message, tools: tuple[ToolSpec, ...] = (TOOL,), **options: Any) -> dict[str, Any]:
    body = openai.render_request(Request("m", messages, tools=tools, **options), NameTable.of(tools))
    check_request(body)
    return body


@pytest.mark.requirement("I2.6.5")
def test_a_tool_as_it_is_sent() -> None:
    assert openai.render_tools([TOOL], NameTable.of([TOOL])) == [
        {
            "type": "function",
            "function": {
                "name": "s__t",
                "description": "d",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
                "strict": False,
            },
        }
    ]


def test_a_conversation_as_it_is_sent() -> None:
    results = ToolResults((succeeded(said("7 degrees"), call_id="call_1"),))
    body = render(User("hi"), Assistant("", (CALL,)), results, system="Be brief.")
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "s__t", "arguments": '{"city":"Århus"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "7 degrees"},
    ]


def test_options_and_choice() -> None:
    body = render(User("hi"), max_tokens=9, temperature=0.5, tool_choice="required")
    assert (body["max_completion_tokens"], body["temperature"], body["tool_choice"]) == (9, 0.5, "required")
    assert render(User("hi")).keys() == {"model", "messages", "tools"}
    assert render(User("hi"), tools=(), tool_choice="none").keys() == {"model", "messages"}


def test_images_follow_in_one_message_after_all_results() -> None:
    second = ToolCall("call_2", "s__t", {})
    results = ToolResults((succeeded(said("a"), image(), call_id="call_1"), failed(call_id="call_2")))
    messages = render(User("hi"), Assistant("", (CALL, second)), results, User("so?"))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert messages[2]["content"] == "a\n\n[image/png follows below]"
    assert messages[3]["content"] == "[tool error] it broke"
    assert messages[4]["content"] == [
        {"type": "text", "text": "From the tool s__t:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]


def test_arguments_that_were_malformed_are_sent_back_as_an_object() -> None:
    call = ToolCall("call_1", "s__t", None, raw='{"ci', malformed="cut")
    sent = render(User("hi"), Assistant("", (call,)), ToolResults((failed(call_id="call_1"),)))["messages"][1]
    assert sent["tool_calls"][0]["function"]["arguments"] == '{"malformed_arguments":"{\\"ci"}'


def test_ids_that_are_too_long_are_replaced_on_both_sides() -> None:
    call = ToolCall("x" * 60, "s__t", {})
    messages = render(User("hi"), Assistant("", (call,)), ToolResults((succeeded(call_id="x" * 60),)))[
        "messages"
    ]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] != "x" * 60


@pytest.mark.requirement("I2.6.5")
def test_tools_beyond_the_limit_are_left_out_and_counted() -> None:
    tools = tuple(ToolSpec("s", f"t{n:03}", "", {"type": "object"}) for n in range(130))
    sent = render(User("hi"), tools=tools)["tools"]
    assert [tool["function"]["name"] for tool in sent] == [f"s__t{n:03}" for n in range(128)]
    losses = openai.losses(tools)
    assert {(loss.tool, loss.rule) for loss in losses} == {
        ("s__t128", "too-many-tools"),
        ("s__t129", "too-many-tools"),
    }
    assert losses[0].repair == "tool left out: 130 tools, 128 at most, so 2 are left out"


def test_a_refusal_is_its_text() -> None:
    body = answer("")
    body["choices"][0]["message"]["refusal"] = "I won't."
    reply = openai.parse_reply(body)
    assert (reply.message.text, reply.stop) == ("I won't.", "refusal")


@pytest.mark.parametrize(
    ("reason", "stop"), [("content_filter", "refusal"), ("eos", "other"), (None, "other")]
)
def test_other_reasons_to_stop(reason: str | None, stop: str) -> None:
    body = answer("x")
    body["choices"][0]["finish_reason"] = reason
    assert openai.parse_reply(body).stop == stop


def test_text_may_come_in_parts() -> None:
    body = answer("")
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert openai.parse_reply(body).message.text == "ab"


@pytest.mark.parametrize("calls", [{"function": {}}, "s__t", [None], [{}, 7]])
def test_calls_that_cannot_be_read_are_an_error_and_not_silence(calls: Any) -> None:
    body = answer("")
    body["choices"][0]["message"]["tool_calls"] = calls
    with pytest.raises(FormatError, match="no readable tool_calls"):
        openai.parse_reply(body)


def test_usage_counts_cached_and_reasoning_tokens() -> None:
    usage = openai.parse_reply(answer("x")).usage
    assert usage.as_dict() == {
        "input_tokens": 11,
        "output_tokens": 7,
        "cached_tokens": 3,
        "reasoning_tokens": 2,
    }


def test_an_answer_without_usage_counts_nothing() -> None:
    body = answer("x")
    del body["usage"]
    assert openai.parse_reply(body).usage.raw == ()
