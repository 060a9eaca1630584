"""Chat Completions: the exact wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import PNG, failed, image, part, said, succeeded
from tests.support.provider_rules.openai import check_request
from tests.support.wires.openai import answer, call_piece, chunk, data, frames
from toolspan_bridge.formats import FormatError, StreamFailed, openai
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Request,
    ToolCall,
    ToolResults,
    ToolSpec,
    User,
    WireOptions,
)
from toolspan_bridge.messages.chat_traits import OPENAI
from toolspan_bridge.messages.deltas import CallDelta, ReasoningDelta, TextDelta

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("call_1", "s__t", {"city": "Århus"})


def render(*messages: Message, tools: tuple[ToolSpec, ...] = (TOOL,), **options: Any) -> dict[str, Any]:
    request = Request(**{"model": "m", "messages": messages, "tools": tools, **options})
    body = openai.render_request(request, NameTable.of(tools))
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
    said = (User("hi"), Assistant("", (call,)), ToolResults((succeeded(call_id="x" * 60),)))
    messages = render(*said, wire=WireOptions(chat=OPENAI))["messages"]
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
    ("reason", "stop"),
    [("content_filter", "refusal"), ("eos", "stop"), ("unheard_of", "other"), (None, "other")],
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
        "written_tokens": 0,
    }


def test_an_answer_without_usage_counts_nothing() -> None:
    body = answer("x")
    del body["usage"]
    assert openai.parse_reply(body).usage.raw == ()


@pytest.mark.requirement("I11.1.16")
@pytest.mark.parametrize(
    ("given", "counted"),
    [
        (
            {"total_tokens": 253, "completion_tokens_details": {"reasoning_tokens": 240}},
            {"output_tokens": 242, "reasoning_tokens": 240},
        ),
        (
            {"total_tokens": 13, "completion_tokens_details": {"reasoning_tokens": 2}},
            {"output_tokens": 2, "reasoning_tokens": 2},
        ),
        ({"prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 3}, {"cached_tokens": 8}),
        ({"cached_tokens": 7}, {"cached_tokens": 7}),
        (
            {"prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 5}},
            {"cached_tokens": 4, "written_tokens": 5},
        ),
    ],
)
def test_usage_as_compatible_servers_count_it(given: dict[str, Any], counted: dict[str, int]) -> None:
    body = {**answer("x"), "usage": {"prompt_tokens": 11, "completion_tokens": 2, **given}}
    usage = openai.parse_reply(body).usage.as_dict()
    assert usage["input_tokens"] == 11
    assert usage == {**dict.fromkeys(usage, 0), "input_tokens": 11, "output_tokens": 2, **counted}


STRICT = ToolSpec("s", "t", "d", {**TOOL.schema, "required": ["city"]}, strict=True)


@pytest.mark.requirement("I5.1.1")
def test_a_forced_tool_and_parallel_calls() -> None:
    body = render(User("hi"), tool_choice=("s", "t"), parallel=False)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "s__t"}}
    assert body["parallel_tool_calls"] is False
    assert "tool_choice" not in render(User("hi"), tool_choice=("s", "gone"))


@pytest.mark.requirement("I5.1.2")
def test_a_stream_is_asked_for_with_its_usage() -> None:
    body = render(User("hi"), stream=True)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.requirement("I5.1.5")
def test_web_search_is_an_option_of_the_request() -> None:
    body = render(User("hi"), builtins=("web_search", "other"), model="gpt-5-search-api")
    assert body["web_search_options"] == {}


@pytest.mark.requirement("I5.1.1")
def test_a_strict_tool_as_it_is_sent() -> None:
    (tool,) = openai.render_tools([STRICT], NameTable.of([STRICT]))
    assert tool["function"]["strict"] is True
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.requirement("I5.1.4")
def test_files_of_a_question_stand_in_its_message() -> None:
    sound = part("audio", data="UklGRg==", mimeType="audio/x-wav")
    (message,) = render(User("Look:", (image(), sound)), audio=True)["messages"]
    assert message["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]
    (message,) = render(User("Look:", (image(), sound)), vision=False)["messages"]
    assert message["content"] == "Look:\n\n[image/png omitted, 68 B]\n\n[audio/x-wav omitted, 4 B]"


@pytest.mark.requirement("I5.1.4")
def test_sound_from_a_tool_follows_its_result() -> None:
    sound = part("audio", data="SUQz", mimeType="audio/mpeg")
    results = ToolResults((succeeded(sound, call_id="call_1"),))
    last = render(User("hi"), Assistant("", (CALL,)), results, audio=True)["messages"][-1]
    assert last["content"][1] == {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}


@pytest.mark.requirement("I5.1.2")
@pytest.mark.parametrize(
    ("error", "status", "retryable"),
    [
        ({"message": "no", "type": "server_error", "code": None}, 500, True),
        ({"message": "no", "type": "invalid_request_error", "code": None}, 400, False),
        ({"message": "no", "code": "rate_limit_exceeded"}, 429, True),
        ({"message": "no", "code": "insufficient_quota", "type": "insufficient_quota"}, 429, False),
        ({"message": "no", "code": 502}, 502, True),
        ({"message": "no", "code": 7}, 500, True),
        ("no", 500, True),
    ],
)
def test_an_error_in_a_stream_says_whether_to_ask_again(error: Any, status: int, retryable: bool) -> None:
    parser = openai.parse_stream()
    with pytest.raises(StreamFailed, match="no") as caught:
        parser.feed(data({"error": error}))
    assert (caught.value.error.status, caught.value.error.retryable) == (status, retryable)


@pytest.mark.requirement("I5.1.2")
def test_what_is_shown_of_a_stream() -> None:
    parser = openai.parse_stream()
    frames = [
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "So. \ud83c"}),
        chunk({"content": "\udf28"}),
        chunk({"tool_calls": [call_piece(3, id="a", name="s__t")]}),
        chunk({"tool_calls": [call_piece(3, '{"city":')]}),
        chunk({"tool_calls": [call_piece(5, {}, id="b", name="s__u")]}),
    ]
    escaped = [frame.decode("utf-8", "surrogatepass") for frame in frames]
    deltas = [delta for frame in escaped for delta in parser.feed(_ascii(frame))]
    assert deltas == [
        ReasoningDelta("Hm."),
        TextDelta("So. "),
        TextDelta("🌨"),
        CallDelta(0, "s__t"),
        CallDelta(0, "", '{"city":'),
        CallDelta(1, "s__u", "{}"),
    ]
    reply = parser.end()
    assert reply.incomplete and reply.message.text == "So. 🌨" and reply.message.calls == ()
    assert [(call.name, call.arguments) for call in reply.cut_calls] == [("s__t", None), ("s__u", {})]


def _ascii(frame: str) -> bytes:
    """As programs write it that escape every code unit."""
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in frame).encode()


@pytest.mark.requirement("I5.1.2")
@pytest.mark.parametrize("frame", [b"data: {oops\n\n", b"data: [1]\n\n", b"data: 7\n\n", b"data: \xff\n\n"])
def test_a_stream_that_is_no_json_is_refused_and_what_came_is_kept(frame: bytes) -> None:
    parser = openai.parse_stream()
    parser.feed(chunk({"content": "So."}))
    with pytest.raises(FormatError, match="the stream holds what is no JSON object: "):
        parser.feed(frame)
    assert parser.end().incomplete and parser.end().message.text == "So."


@pytest.mark.requirement("I5.1.2")
def test_a_chunk_of_another_choice_is_not_read() -> None:
    parser = openai.parse_stream()
    parser.feed(data({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}))
    assert parser.end().message.text == "" and parser.end().incomplete


USES = [{"recipient_name": "functions.s__t", "parameters": {"city": city}} for city in ("Oslo", "Bergen")]


@pytest.mark.requirement("I11.1.20")
@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        (["{}", '{"city": "Oslo"}'], [("s__t", {"city": "Oslo"})]),
        (["{}", "{}"], [("s__t", {})]),
    ],
)
def test_arguments_given_whole_again_after_an_empty_object(pieces: list[str], calls: Any) -> None:
    parser = openai.parse_stream()
    for number, piece in enumerate(pieces):
        named = {} if number else {"id": "a", "name": "s__t"}
        parser.feed(chunk({"tool_calls": [call_piece(0, piece, **named)]}))
    parser.feed(chunk({}, "tool_calls"))
    assert [(call.name, call.arguments) for call in parser.end().message.calls] == calls


@pytest.mark.requirement("I11.1.20")
@pytest.mark.parametrize("streamed", [False, True])
def test_several_calls_in_one_wrapper_are_calls_of_their_own(streamed: bool) -> None:
    calls = [("a", "multi_tool_use.parallel", {"tool_uses": USES}), ("b", "s__t", {})]
    body = answer("", calls)
    parser = openai.parse_stream()
    for frame in frames("", calls):
        parser.feed(frame)
    reply = parser.end() if streamed else openai.parse_reply(body)
    made = reply.message.calls
    assert [(call.name, call.arguments) for call in made] == [
        ("s__t", {"city": "Oslo"}),
        ("s__t", {"city": "Bergen"}),
        ("s__t", {}),
    ]
    assert len({call.id for call in made}) == 3
    outcomes = tuple(succeeded(call_id=call.id) for call in made)
    render(User("hi"), reply.message, ToolResults(outcomes))


def test_a_wrapper_that_cannot_be_read_stays_a_call_of_its_own_name() -> None:
    (call,) = openai.parse_reply(
        answer("", [("a", "multi_tool_use.parallel", {"tool_uses": [{}]})])
    ).message.calls
    assert (call.id, call.name) == ("a", "multi_tool_use.parallel")


@pytest.mark.requirement("I11.1.10")
@pytest.mark.parametrize("reason", ["length", "model_length", "content_filter", "error", "abort"])
@pytest.mark.parametrize("streamed", [False, True])
def test_calls_of_a_turn_that_was_ended_are_set_aside(reason: str, streamed: bool) -> None:
    body = answer("I look.", [("c1", "s__t", {"city": "Oslo"})])
    body["choices"][0]["finish_reason"] = reason
    if streamed:
        stream = openai.parse_stream()
        for frame in frames("I look.", [("c1", "s__t", {"city": "Oslo"})]):
            stream.feed(
                frame.replace(b'"finish_reason": "tool_calls"', f'"finish_reason": "{reason}"'.encode())
            )
        reply = stream.end()
    else:
        reply = openai.parse_reply(body)
    assert reply.message.calls == () and [call.name for call in reply.cut_calls] == ["s__t"]
    render(User("hi"), reply.message, User("And now?"))
