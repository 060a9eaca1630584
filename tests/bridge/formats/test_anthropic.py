"""Anthropic's Messages: the exact wire, checked by the types of Anthropic's own client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything
from tests.support.outcomes import PDF, PNG, SVG, WAV, failed, image, part, said, succeeded
from tests.support.provider_rules.anthropic import check_request
from tests.support.wires.anthropic import (
    BARE,
    CITED,
    FOUND,
    REDACTED,
    SEARCH,
    THOUGHT,
    USE,
    answer,
    events,
    message,
    sse,
)
from toolspan_bridge.formats import anthropic
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Reply,
    Request,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
    WireOptions,
)
from toolspan_bridge.messages.deltas import CallDelta, ReasoningDelta

pytestmark = pytest.mark.requirement("I5.1.1")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("toolu_1", "s__t", {"city": "Oslo"})
DOCUMENT = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
TEXT = part("resource", resource={"uri": "a.txt", "mimeType": "text/plain", "text": "Hello."})
SOUND = part("audio", data=WAV, mimeType="audio/wav")


def render(*messages: Message, tools: Any = (TOOL,), **options: Any) -> dict[str, Any]:
    options = {"model": "claude-sonnet-4-5", "cache": False, **options}
    body = anthropic.render_request(Request(messages=messages, tools=tools, **options), NameTable.of(tools))
    check_request(body)
    return body


def parse(*content: dict[str, Any], stop: str = "tool_use", **more: Any) -> Reply:
    return anthropic.parse_reply(message(*content, stop=stop, **more))


def results(*outcomes: ToolOutcome, **options: Any) -> list[dict[str, Any]]:
    calls = tuple(ToolCall(outcome.call_id, "s__t", {}) for outcome in outcomes)
    body = render(User("hi"), Assistant("", calls), ToolResults(outcomes), **options)
    return list(body["messages"][2]["content"])


def test_tools_as_they_are_sent() -> None:
    bare = ToolSpec("s", "u", " ", {"type": "object"})
    assert anthropic.render_tools([TOOL, bare], NameTable.of([TOOL, bare])) == [
        {
            "name": "s__t",
            "description": "d",
            "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
        {"name": "s__u", "input_schema": {"type": "object", "properties": {}}},
    ]


def test_a_tool_is_strict_where_it_asks_for_it_and_loses_nothing() -> None:
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
    open_ended = {"type": "object", "patternProperties": {"^x": {"type": "string"}}}
    strict = ToolSpec("s", "t", "d", city, strict=True)
    loose = ToolSpec("s", "u", "d", open_ended, strict=True)
    first, second = anthropic.render_tools([strict, loose], NameTable.of([strict, loose]))
    assert first["strict"] is True and "strict" not in second
    assert [loss.rule for loss in anthropic.losses([strict, loose])] == ["not-strict"]


def test_a_conversation_as_it_is_sent() -> None:
    answered = ToolResults((succeeded(said("7 degrees"), call_id="toolu_1"),))
    body = render(User("hi"), Assistant("So.", (CALL,)), answered, User("thanks"), system="Be brief.")
    assert body["system"] == "Be brief." and body["tool_choice"] == {"type": "auto"}
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "So."},
                {"type": "tool_use", "id": "toolu_1", "name": "s__t", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "7 degrees"}],
                },
                {"type": "text", "text": "thanks"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("model", "most"),
    [
        ("claude-sonnet-5-5", 32_768),
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-20241022", 8192),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 16_384),
        ("house-model", 4096),
    ],
)
def test_a_limit_is_always_sent(model: str, most: int) -> None:
    assert render(User("hi"), model=model)["max_tokens"] == most
    assert render(User("hi"), model=model, max_tokens=77)["max_tokens"] == 77


def test_choices_of_tools() -> None:
    def choice(wanted: Any, **options: Any) -> Any:
        return render(User("hi"), tool_choice=wanted, **options).get("tool_choice")

    assert choice("none") == choice("none", parallel=False) == {"type": "none"}
    assert choice("required") == {"type": "any"}
    assert choice(("s", "t")) == {"type": "tool", "name": "s__t"}
    assert choice(("s", "gone")) == {"type": "auto"}
    assert choice("auto", parallel=False) == {"type": "auto", "disable_parallel_tool_use": True}
    assert choice(("s", "t"), parallel=True)["disable_parallel_tool_use"] is False
    assert choice("required", tools=()) is None


def test_a_model_that_thinks_is_asked_and_not_forced() -> None:
    asked = render(User("hi"), tool_choice="required", wire=WireOptions(thinking=True), system="Be brief.")
    assert asked["tool_choice"] == {"type": "auto"}
    assert asked["system"] == "Be brief.\n\nAnswer by calling one of the tools."
    thought = parse(THOUGHT, {"type": "text", "text": "Hm."}, stop="end_turn").message
    named = render(User("hi"), thought, User("again"), tool_choice=("s", "t"))
    assert named["tool_choice"] == {"type": "auto"}
    assert named["system"] == "Answer by calling the tool s__t."


@pytest.mark.requirement("I5.1.5")
def test_the_web_search_stands_beside_the_tools() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    asked = render(User("hi"), builtins=("web_search", "web_search", "fax"))
    assert [tool["name"] for tool in asked["tools"]] == ["s__t", "web_search"] and asked["tools"][1] == search
    assert render(User("hi"), tools=(), builtins=("web_search",))["tools"] == [search]


def test_whether_to_stream_and_the_temperature_are_said_only_when_asked() -> None:
    assert render(User("hi")).keys() == {"model", "max_tokens", "tools", "tool_choice", "messages"}
    body = render(User("hi"), stream=True, temperature=0.0)
    assert (body["stream"], body["temperature"]) == (True, 0.0)


@pytest.mark.requirement("I5.1.3")
def test_thoughts_go_back_as_they_came() -> None:
    use = {**USE, "name": "s__t", "input": {"city": "Oslo"}}
    reply = parse(THOUGHT, REDACTED, {"type": "text", "text": ""}, use)
    answered = ToolResults((succeeded(call_id="c1"),))
    sent = render(User("hi"), reply.message, answered)["messages"][1]["content"]
    assert sent == [THOUGHT, REDACTED, use]


@pytest.mark.requirement("I5.1.3")
def test_what_may_not_stand_in_an_earlier_turn_is_left_out() -> None:
    cut = {**THOUGHT, "signature": ""}
    ended = parse(cut, {"type": "text", "text": "So."}, SEARCH, THOUGHT, stop="max_tokens").message
    assert render(User("hi"), ended, User("go on"))["messages"][1]["content"] == [
        {"type": "text", "text": "So."}
    ]
    only_thought = parse(THOUGHT, stop="end_turn").message
    assert len(render(User("hi"), only_thought, User("well?"))["messages"]) == 1


@pytest.mark.requirement("I5.1.3", "I5.1.5")
def test_a_paused_turn_goes_back_unchanged_and_the_model_goes_on() -> None:
    paused = parse(THOUGHT, SEARCH, stop="pause_turn")
    assert paused.stop == "pause" and paused.message.calls == ()
    body = render(User("hi"), paused.message, builtins=("web_search",))
    assert body["messages"][-1] == {"role": "assistant", "content": [THOUGHT, SEARCH]}


@pytest.mark.requirement("I5.1.5")
def test_a_search_that_the_provider_ran_is_not_ours_and_goes_back() -> None:
    reply = parse(SEARCH, FOUND, CITED, stop="end_turn")
    assert (reply.message.text, reply.message.calls) == ("It snows.", ())
    sent = render(User("hi"), reply.message, User("thanks"), builtins=("web_search",))
    assert sent["messages"][1]["content"] == [SEARCH, FOUND, CITED]


@pytest.mark.requirement("I5.1.5")
def test_a_search_beside_our_calls_goes_back_before_it_has_a_result() -> None:
    use = {**USE, "name": "s__t", "input": {"city": "Oslo"}}
    reply = parse(THOUGHT, SEARCH, use)
    answered = ToolResults((succeeded(call_id="c1"),))
    sent = render(User("hi"), reply.message, answered, builtins=("web_search",))
    assert sent["messages"][1]["content"] == [THOUGHT, SEARCH, use]


def test_calls_that_were_sent_elsewhere_since_are_written_anew() -> None:
    reply = parse(THOUGHT, USE, BARE)
    fewer = Assistant("So.", reply.message.calls[:1], reply.message.opaque, "anthropic")
    sent = render(User("hi"), fewer, ToolResults((succeeded(call_id="c1"),)))["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["text", "tool_use"]


def test_without_any_tools_past_calls_are_told_in_words() -> None:
    history = (User("hi"), Assistant("So.", (CALL,)), ToolResults((failed(said("boom"), call_id="toolu_1"),)))
    body = render(*history, tools=())
    assert "tools" not in body
    assert [part["text"] for part in body["messages"][1]["content"]] == [
        'So.\n[called s__t with {"city":"Oslo"}]'
    ]
    assert body["messages"][2]["content"][0]["text"] == "[s__t gave] [tool error] boom"


@pytest.mark.requirement("I5.1.4")
def test_results_as_they_are_sent() -> None:
    def result(outcome: ToolOutcome) -> Any:
        return results(outcome)[0]

    def texts(outcome: ToolOutcome) -> list[str]:
        return [part["text"] for part in result(outcome)["content"]]

    assert texts(succeeded(said("a"), said("b"))) == ["a\n\nb"]
    assert texts(succeeded(said('{"a": 1}'), structured={"a": 1})) == ['{"a":1}']
    assert texts(succeeded(structured=[1])) == ["[1]"]
    assert texts(succeeded()) == ["(no output)"]
    assert texts(succeeded(TEXT)) == ["[resource a.txt]\nHello."]
    assert texts(succeeded(image(SVG, "image/svg+xml"), SOUND))[0].count("omitted") == 2
    assert texts(failed(said("boom"))) == ["boom"]
    assert result(failed(said("boom")))["is_error"] is True and "is_error" not in result(succeeded())


@pytest.mark.requirement("I5.1.4")
def test_images_and_documents_stand_in_the_result() -> None:
    (sent,) = results(succeeded(said("Look:"), image(), DOCUMENT))
    assert sent["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            "title": "a.pdf",
        },
    ]
    (alone,) = results(succeeded(image()))
    assert [part["type"] for part in alone["content"]] == ["image"]


@pytest.mark.requirement("I5.1.4")
def test_a_failed_result_holds_text_only() -> None:
    (sent,) = results(failed(said("boom"), image()))
    assert sent["content"] == [{"type": "text", "text": "boom\n\n[image/png omitted, 68 B]"}]


@pytest.mark.requirement("I5.1.4")
def test_what_comes_with_a_question_stands_before_it() -> None:
    asked = User("What is this?", (image(), DOCUMENT, TEXT, SOUND))
    content = render(asked)["messages"][0]["content"]
    assert [block["type"] for block in content] == ["image", "document", "text", "text", "text"]
    assert content[-1]["text"] == "What is this?" and content[2]["text"].endswith("Hello.")
    blind = render(asked, vision=False)["messages"][0]["content"]
    assert blind[0]["text"] == "[image/png omitted, 68 B]" and blind[1]["type"] == "document"


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "context"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("something_new", "other"),
    ],
)
def test_reasons_to_stop(reason: str, stop: str) -> None:
    assert parse({"type": "text", "text": "x"}, stop=reason).stop == stop


def test_a_refusal_without_a_word_is_told_by_its_explanation() -> None:
    details = {"type": "refusal", "category": None, "explanation": "I will not."}
    assert parse(stop="refusal", stop_details=details).message.text == "I will not."
    said_so = {"type": "text", "text": "No."}
    assert parse(said_so, stop="refusal", stop_details=details).message.text == "No."


@pytest.mark.requirement("I5.1.6")
def test_the_true_input_is_all_three_counts() -> None:
    body = answer("x")
    body["usage"]["cache_creation_input_tokens"] = 4
    usage = anthropic.parse_reply(body).usage
    assert usage.as_dict() == {
        "input_tokens": 15,
        "output_tokens": 7,
        "cached_tokens": 3,
        "reasoning_tokens": 2,
        "written_tokens": 4,
    }
    assert usage.raw == (body["usage"],)


def error(status: int, kind: str, text: str = "no", **more: Any) -> Any:
    body = {"type": "error", "error": {"type": kind, "message": text, **more}, "request_id": "req_1"}
    return anthropic.parse_error(status, {}, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (400, "invalid_request_error", False),
        (401, "authentication_error", False),
        (402, "billing_error", False),
        (409, "conflict_error", True),
        (413, "request_too_large", False),
        (429, "rate_limit_error", True),
        (500, "api_error", True),
        (504, "timeout_error", True),
        (529, "overloaded_error", True),
    ],
)
def test_errors(status: int, kind: str, again: bool) -> None:
    found = error(status, kind)
    assert (found.kind, found.retryable, found.message) == (kind, again, "no (request req_1)")


def test_a_spent_limit_is_no_reason_to_wait() -> None:
    spent = error(429, "rate_limit_error", details={"error_code": "enforced_spend_limit_reached"})
    assert (spent.kind, spent.retryable) == ("enforced_spend_limit_reached", False)


@pytest.mark.requirement("I5.2.5")
def test_the_refused_tool_is_named_by_its_place() -> None:
    said_so = "tools.17.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
    assert error(400, "invalid_request_error", said_so).tool == 17
    assert error(400, "invalid_request_error", "messages.1.content.0: tools are nice").tool is None


def test_keys_that_are_refused_are_renamed_and_named_back() -> None:
    odd = ToolSpec("s", "o", "", {"type": "object", "properties": {"my key": {"type": "integer"}}})
    (sent,) = anthropic.render_tools([odd], NameTable.of([odd]))
    (key,) = sent["input_schema"]["properties"]
    assert anthropic.restore(odd, {key: 3.0}) == {"my key": 3}
    assert [loss.rule for loss in anthropic.losses([odd])] == ["property-key"]


@pytest.mark.requirement("I5.1.2", "I5.4.6")
@pytest.mark.parametrize(
    "left_out",
    ["message_start", "content_block_start", "content_block_stop", "message_delta"],
)
def test_a_stream_that_lacks_one_of_its_marks_carries_out_nothing(left_out: str) -> None:
    sent = list(events(message({"type": "text", "text": "I look."}, USE, stop="tool_use")))
    place = max(number for number, event in enumerate(sent) if event["type"] == left_out)
    parser = anthropic.parse_stream()
    for event in [*sent[:place], *sent[place + 1 :]]:
        parser.feed(sse(event))
    reply = parser.end()
    assert reply.incomplete and reply.message == Assistant("I look.", incomplete=True)


@pytest.mark.requirement("I5.1.2")
def test_thoughts_are_shown_as_thoughts_and_searches_not_at_all() -> None:
    parser = anthropic.parse_stream()
    shown = [delta for event in events(message(THOUGHT, SEARCH, BARE)) for delta in parser.feed(sse(event))]
    assert "".join(delta.text for delta in shown if isinstance(delta, ReasoningDelta)) == THOUGHT["thinking"]
    assert [delta for delta in shown if isinstance(delta, CallDelta)] == [CallDelta(0, "s__time")]


@pytest.mark.requirement("I5.4.2")
def test_anthropics_own_client_reads_the_streams_that_these_tests_are_made_of() -> None:
    from anthropic import Anthropic

    body = message(THOUGHT, {"type": "text", "text": "I look."}, USE, BARE, stop="tool_use")
    stream = b"".join(sse(event) for event in events(body))
    with FakeProvider(anything, [Sent(stream, headers={"content-type": "text/event-stream"})]) as fake:
        client = Anthropic(api_key="k", base_url=fake.url, max_retries=0)
        with client, client.messages.stream(model="m", max_tokens=9, messages=[_HI]) as events_read:
            read = events_read.get_final_message().to_dict()
    assert [block["type"] for block in read["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert read["content"][2]["input"] == USE["input"] and read["stop_reason"] == "tool_use"


_HI: Any = {"role": "user", "content": "hi"}
