"""Responses: the exact wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.outcomes import JPEG, PDF, PNG, SVG, failed, image, part, said, succeeded
from tests.support.provider_rules.openai_responses import check_request
from tests.support.wires.openai_responses import (
    REASONING,
    SEARCH,
    answer,
    event,
    frames,
    message,
    stream,
    whole,
)
from toolspan_bridge.formats import (
    FormatError,
    StreamFailed,
    openai,
    openai_responses,
)
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import (
    Assistant,
    Message,
    Request,
    ToolCall,
    ToolResults,
    ToolSpec,
    User,
)
from toolspan_bridge.messages.deltas import CallDelta, ReasoningDelta

pytestmark = pytest.mark.requirement("I5.1.1")

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = ToolSpec("s", "t", "d", CITY)
CALL = ToolCall("call_1", "s__t", {"city": "Århus"})


def render(*messages: Message, tools: tuple[ToolSpec, ...] = (TOOL,), **options: Any) -> dict[str, Any]:
    options = {"model": "gpt-5", **options}
    body = openai_responses.render_request(
        Request(messages=messages, tools=tools, **options), NameTable.of(tools)
    )
    check_request(body)
    return body


def outputs(*outcomes: Any, **options: Any) -> list[Any]:
    calls = tuple(ToolCall(f"c{place}", "s__t", {}) for place in range(1, len(outcomes) + 1))
    sent = render(User("hi"), Assistant("", calls), ToolResults(outcomes), **options)["input"]
    return [item["output"] for item in sent if item.get("type") == "function_call_output"]


def function(spec: ToolSpec) -> dict[str, Any]:
    (sent,) = openai_responses.render_tools([spec], NameTable.of([spec]))
    return sent


def test_a_tool_is_flat_and_says_that_it_is_not_strict() -> None:
    assert function(TOOL) == {
        "type": "function",
        "name": "s__t",
        "description": "d",
        "parameters": CITY,
        "strict": False,
    }


def test_the_schema_of_results_goes_along_where_it_is_plain() -> None:
    assert function(ToolSpec("s", "t", "d", CITY, output_schema=CITY))["output_schema"] == CITY
    odd = ToolSpec("s", "t", "d", CITY, output_schema={"type": "array"})
    assert "output_schema" not in function(odd)
    assert [(loss.tool, loss.rule, loss.severity) for loss in openai_responses.losses([odd])] == [
        ("s__t", "output-schema", "info")
    ]


def test_strict_is_used_where_nothing_is_lost_and_undone_on_the_way_back() -> None:
    spec = ToolSpec("s", "t", "d", {**CITY, "additionalProperties": False}, strict=True)
    sent = render(User("hi"), tools=(spec,))["tools"][0]
    assert sent["strict"] is True and sent["parameters"]["required"] == ["city"]
    assert openai_responses.restore(spec, {"city": None}) == {}


def test_nothing_is_stored_and_reasoning_comes_back_encrypted() -> None:
    body = render(User("hi"), system="Be brief.", max_tokens=9, temperature=0.5, stream=True, model="m")
    assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]
    assert body["instructions"] == "Be brief." and body["input"] == [{"role": "user", "content": "hi"}]
    assert (body["max_output_tokens"], body["temperature"], body["stream"]) == (16, 0.5, True)
    assert render(User("hi"), tools=()).keys() == {"model", "input", "store", "include"}


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4.1-mini", "chatgpt-4o-latest", "gpt-5.1-chat-latest", "ft:gpt-4o:x"]
)
def test_models_that_do_not_reason_are_not_asked_for_reasoning(model: str) -> None:
    assert "include" not in render(User("hi"), model=model)


def test_a_conversation_of_another_format_is_written_as_items() -> None:
    results = ToolResults((succeeded(said("7 degrees"), call_id="call_1"),))
    assert render(User("hi"), Assistant("So.", (CALL,)), results)["input"] == [
        {"role": "user", "content": "hi"},
        {"type": "message", "role": "assistant", "content": "So."},
        {"type": "function_call", "call_id": "call_1", "name": "s__t", "arguments": '{"city":"Århus"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "7 degrees"},
    ]


ITEMS = [
    REASONING,
    SEARCH,
    {**message("I look.", phase="commentary"), "id": "msg_0"},
    *answer("", [("c1", "s__t", {"city": "Oslo"}), ("c2", "s__t", {})])["output"],
]
RESULTS = ToolResults((succeeded(call_id="c1"), succeeded(call_id="c2")))


@pytest.mark.requirement("I5.1.3")
def test_every_item_is_sent_back_as_it_came_also_after_saving_and_loading() -> None:
    first = openai_responses.parse_reply(whole(ITEMS)).message
    loaded = Assistant(first.text, first.calls, json.loads(json.dumps(first.opaque)), first.opaque_format)
    assert first.text == "I look." and [call.id for call in first.calls] == ["c1", "c2"]
    for said_so in (first, loaded):
        assert render(User("hi"), said_so, RESULTS)["input"][1 : 1 + len(ITEMS)] == ITEMS


@pytest.mark.requirement("I5.1.3")
def test_a_call_is_matched_by_its_call_id_which_is_replaced_on_both_sides() -> None:
    reply = openai_responses.parse_reply(whole([REASONING, *answer("", [("x" * 80, "s__t", {})])["output"]]))
    (call,) = reply.message.calls
    sent = render(User("hi"), reply.message, ToolResults((succeeded(call_id=call.id),)))["input"]
    assert sent[1] == REASONING and sent[2]["id"] == "fc_0"
    assert sent[2]["call_id"] == sent[3]["call_id"] != "x" * 80


@pytest.mark.requirement("I5.1.3")
def test_items_that_no_longer_fit_the_calls_are_written_anew() -> None:
    first = openai_responses.parse_reply(whole(ITEMS)).message
    edited = Assistant(first.text, first.calls[:1], first.opaque, first.opaque_format)
    sent = render(User("hi"), edited, ToolResults((succeeded(call_id="c1"),)))["input"]
    assert sent[1] == {"type": "message", "role": "assistant", "content": "I look."} and "id" not in sent[2]


@pytest.mark.requirement("I5.1.3")
def test_reasoning_that_only_refers_to_what_is_not_stored_is_left_out() -> None:
    bare = {**REASONING, "encrypted_content": None}
    reply = openai_responses.parse_reply(whole([bare, message("Hi."), REASONING]))
    assert render(User("hi"), reply.message)["input"][1:] == [
        {"type": "message", "role": "assistant", "content": "Hi.", "phase": "final_answer"}
    ]


def test_arguments_that_were_malformed_are_sent_back_as_an_object() -> None:
    reply = openai_responses.parse_reply(answer("", [("c1", "s__t", '{"ci')]))
    sent = render(User("hi"), reply.message, ToolResults((failed(call_id="c1"),)))["input"]
    assert sent[1]["arguments"] == '{"malformed_arguments":"{\\"ci"}'


@pytest.mark.requirement("I5.1.4")
def test_results_are_text_or_lists_with_images_and_pdfs() -> None:
    document = part(
        "resource", resource={"uri": "file:///a/b.pdf", "mimeType": "application/pdf", "blob": PDF}
    )
    plain, seen, bare, broken = outputs(
        succeeded(said("a"), said("b"), call_id="c1"),
        succeeded(said("see"), image(), document, call_id="c2"),
        succeeded(image(JPEG, "image/jpeg"), call_id="c3"),
        failed(image(), call_id="c4"),
    )
    assert plain == "a\n\nb"
    assert seen == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
        {"type": "input_file", "filename": "b.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
    ]
    assert [entry["type"] for entry in bare] == ["input_image"]
    assert broken[0] == {"type": "input_text", "text": "[tool error] (no output)"}


@pytest.mark.requirement("I5.1.4")
def test_what_it_cannot_carry_leaves_a_note() -> None:
    svg, sound = image(SVG, "image/svg+xml"), part("audio", data="AAAA", mimeType="audio/wav")
    link = part("resource_link", uri="file:///x", name="x")
    (shown,) = outputs(succeeded(svg, sound, link, structured={"a": 1}, call_id="c1"))
    assert shown.split("\n\n") == [
        "[image/svg+xml omitted, 41 B]",
        "[audio/wav omitted, 3 B]",
        "[resource link: file:///x, x]",
        '{"a":1}',
    ]
    assert outputs(succeeded(call_id="c1")) == ["(no output)"]


@pytest.mark.requirement("I5.1.4")
def test_a_result_never_outgrows_the_longest_output() -> None:
    (shown,) = outputs(failed(said("x" * 11_000_000), call_id="c1"), max_result_bytes=20_000_000)
    assert 10_400_000 < len(shown) <= 10_485_760 and "[cut here" in shown


@pytest.mark.requirement("I5.1.4")
def test_a_question_may_hold_images_and_documents() -> None:
    parts = (
        image(),
        part("resource", resource={"uri": "a", "mimeType": "application/pdf", "blob": PDF}),
        part("resource", resource={"uri": "notes.txt", "text": "Remember."}),
    )
    (asked,) = render(User("What is it?", parts))["input"]
    assert asked["content"] == [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
        {"type": "input_file", "filename": "document.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        {"type": "input_text", "text": "[resource notes.txt]\nRemember."},
    ]
    blind = render(User("What is it?", parts[:1]), vision=False)["input"][0]["content"]
    assert blind[1]["text"] == "[image/png omitted, 68 B]"


def test_tool_choices_and_parallel_calls() -> None:
    assert not {"tool_choice", "parallel_tool_calls"} & render(User("hi")).keys()
    assert (
        render(User("hi"), tool_choice="required", parallel=False).items()
        >= {
            "tool_choice": "required",
            "parallel_tool_calls": False,
        }.items()
    )
    assert render(User("hi"), tool_choice=("s", "t"))["tool_choice"] == {"type": "function", "name": "s__t"}
    assert "tool_choice" not in render(User("hi"), tool_choice=("s", "gone"))


@pytest.mark.requirement("I5.1.5")
def test_the_web_search_of_the_provider_stands_beside_functions() -> None:
    assert [tool["type"] for tool in render(User("hi"), builtins=("web_search",))["tools"]] == [
        "function",
        "web_search",
    ]
    assert render(User("hi"), tools=(), builtins=("web_search", "fax"))["tools"] == [{"type": "web_search"}]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "refusal"),
        ("max_messages", "error"),
        ("steered", "pause"),
        ("", "error"),
    ],
)
def test_an_incomplete_answer_says_why_and_carries_out_nothing(reason: str, stop: str) -> None:
    body = {**whole(ITEMS), "status": "incomplete", "incomplete_details": {"reason": reason}}
    reply = openai_responses.parse_reply(body)
    assert (reply.stop, reply.message) == (stop, Assistant("I look."))
    assert [call.id for call in reply.cut_calls] == ["c1", "c2"]


def test_a_call_that_is_not_complete_is_not_carried_out() -> None:
    body = answer("", [("c1", "s__t", {})])
    body["output"][0]["status"] = "incomplete"
    assert openai_responses.parse_reply(body).message.calls == ()


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_an_answer_that_is_not_there_yet_is_none(status: str) -> None:
    with pytest.raises(FormatError, match="no finished output"):
        openai_responses.parse_reply({**answer("hi"), "status": status})


def test_a_refusal_is_its_text() -> None:
    reply = openai_responses.parse_reply(answer("I cannot.", stop="refusal"))
    assert (reply.message.text, reply.stop) == ("I cannot.", "refusal")


@pytest.mark.requirement("I5.1.6")
def test_usage_with_its_details() -> None:
    usage = openai_responses.parse_reply(answer("x")).usage
    assert tuple(usage.as_dict().values()) == (11, 7, 3, 2, 0)
    assert usage.raw[0]["input_tokens_details"]["cache_write_tokens"] == 0


def deltas(*sent: bytes) -> list[Any]:
    return openai_responses.parse_stream().feed(b"".join(sent))


@pytest.mark.requirement("I5.1.2")
def test_a_call_is_named_when_it_is_announced_and_its_arguments_follow() -> None:
    told = [
        delta
        for delta in deltas(*frames("", [("c1", "s__t", {"city": "Oslo"})]))
        if isinstance(delta, CallDelta)
    ]
    assert (told[0].name, told[0].arguments) == ("s__t", "")
    assert "".join(delta.arguments for delta in told) == '{"city": "Oslo"}'


@pytest.mark.requirement("I5.1.2")
@pytest.mark.parametrize("kind", ["reasoning_summary_text", "reasoning_text"])
def test_thoughts_are_shown(kind: str) -> None:
    sent = event(f"response.{kind}.delta", output_index=0, item_id="rs_1", delta="Hmm.")
    assert deltas(sent) == [ReasoningDelta("Hmm.")]


@pytest.mark.requirement("I5.1.2")
def test_the_finished_item_is_believed_and_not_its_announcement_or_deltas() -> None:
    parser = openai_responses.parse_stream()
    body = whole([REASONING, *answer("", [("c1", "s__t", {"city": "Oslo"})])["output"]])
    sent = b"".join(stream(body))
    parser.feed(sent.replace(b'"delta": "{\\"cit"', b'"delta": "{\\"dog"'))
    reply = parser.end()
    assert reply.message.opaque[0]["encrypted_content"] == REASONING["encrypted_content"]
    assert reply.message.calls[0].arguments == {"city": "Oslo"}


@pytest.mark.requirement("I5.1.2", "I5.4.5")
def test_a_call_that_was_never_said_to_be_done_is_not_carried_out() -> None:
    parser = openai_responses.parse_stream()
    sent = [frame for frame in frames("", [("c1", "s__t", {})]) if b"output_item.done" not in frame]
    parser.feed(b"".join(sent[:-1]) + event("response.completed", response={**answer(), "output": []}))
    reply = parser.end()
    assert not reply.incomplete and reply.message.calls == ()
    assert [(call.name, call.raw) for call in reply.cut_calls] == [("s__t", "{}")]


@pytest.mark.requirement("I5.1.2", "I5.4.5")
@pytest.mark.parametrize(
    ("failure", "kind", "again"),
    [
        (
            event("response.failed", response={"error": {"code": "rate_limit_exceeded", "message": "m"}}),
            "rate_limit_exceeded",
            True,
        ),
        (
            event("response.failed", response={"error": {"code": "invalid_prompt", "message": "m"}}),
            "invalid_prompt",
            False,
        ),
        (event("error", code="server_error", message="m", param=None), "server_error", True),
        (event("error", error={"type": "insufficient_quota", "message": "m"}), "insufficient_quota", False),
        (event("response.failed", response=None), "response.failed", True),
    ],
)
def test_a_failure_after_the_first_words_keeps_them(failure: bytes, kind: str, again: bool) -> None:
    parser = openai_responses.parse_stream()
    parser.feed(b"".join(frames("Let me see.")[:6]))
    with pytest.raises(StreamFailed) as caught:
        parser.feed(failure)
    assert (caught.value.error.kind, caught.value.error.retryable) == (kind, again)
    reply = parser.end()
    assert reply.incomplete and "Let me see.".startswith(reply.message.text) and reply.message.text


@pytest.mark.requirement("I5.2.5")
@pytest.mark.parametrize(
    ("status", "param", "message", "tool"),
    [
        (400, "tools[3].parameters", "Invalid schema for function 's__t': In context=(), …", "s__t"),
        (400, "tools[13].name", "Missing required parameter: 'tools[13].name'.", 13),
        (400, None, "Invalid 'tools[0].function.name': string does not match pattern.", 0),
        (400, "tools.2.parameters", "no", 2),
        (400, "input[3].call_id", "No tool output found for function call c1.", None),
        (500, "tools[3]", "The server had an error", None),
    ],
)
def test_a_refused_tool_is_named(status: int, param: Any, message: str, tool: Any) -> None:
    error = {"error": {"message": message, "type": "invalid_request_error", "param": param}}
    for format_ in (openai, openai_responses):
        assert format_.parse_error(status, {}, json.dumps(error).encode()).tool == tool


def test_an_exhausted_quota_is_final() -> None:
    error = {"error": {"message": "m", "type": "insufficient_quota", "code": "insufficient_quota"}}
    assert not openai_responses.parse_error(429, {}, json.dumps(error).encode()).retryable
