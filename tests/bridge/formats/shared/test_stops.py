"""Why an answer ended, and what came in the place of one, however a vendor writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.formats import Wire
from toolspan_bridge.formats import StreamFailed, get_format
from toolspan_bridge.formats.shared.replies.stops import stop_reason
from toolspan_bridge.messages import Reply

CHUNK = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
ENDS: dict[str, list[Any]] = {
    "stop": [
        "stop",
        "STOP",
        "end_turn",
        "eos_token",
        "COMPLETE",
        "tool_calls",
        "tool-calls",
        "stop_sequence",
        "end_of_text",
        "endoftext",
        "REASON_STOP",
        "REASON_TOOL_CALLS",
        "FinishReason.STOP",
        "FINISHED",
        "done",
    ],
    "length": ["length", "MAX_TOKENS", "max_output_tokens", "max-tokens", "REASON_MAX_LEN", "maximum_tokens"],
    "context": [
        "model_length",
        "model_context_window_exceeded",
        "context_length_exceeded",
        "REASON_MAX_CONTEXT",
        "max_context_length",
        "context_limit",
    ],
    "refusal": [
        "content_filter",
        "sensitive",
        "SAFETY",
        "RECITATION",
        "refusal",
        "ERROR_TOXIC",
        "content_filter: PROHIBITED_CONTENT",
        "CONTENT_FILTERED",
        "content_policy_violation",
        "guardrail",
        "flagged",
    ],
    "malformed": ["MALFORMED_FUNCTION_CALL", "function_call_filter: UNEXPECTED_TOOL_CALL", "tool_use_failed"],
    "error": [
        "error",
        "network_error",
        "abort",
        "insufficient_system_resource",
        "timeout",
        "cancelled",
        "time_limit",
        "REASON_TIME_LIMIT",
        "REASON_INVALID",
        "repetition_truncation",
        "interrupted",
        "preempted",
        "unload",
        "provider_error",
        "upstream_error",
        "disconnected",
    ],
    "pause": ["pause_turn"],
    "other": ["", None, 7, "phase_of_the_moon", "null", "None", "FINISH_REASON_UNSPECIFIED"],
}
ERRORS: dict[str, dict[str, Any]] = {
    "error as an object": {"error": {"message": "exploded-77", "code": 429}},
    "error as a text": {"error": "exploded-77"},
    "error beside a message": {"error": "Bad Gateway", "message": "exploded-77"},
    "an object of kind error": {"object": "error", "message": "exploded-77", "type": "X", "code": 500},
    "an object of kind error with choices": {"object": "error", "message": "exploded-77", "choices": []},
    "base_resp": {"id": "x", "choices": [], "base_resp": {"status_code": 1002, "status_msg": "exploded-77"}},
    "detail": {"detail": "exploded-77"},
    "detail as a list": {"detail": [{"loc": ["body"], "msg": "exploded-77"}]},
    "code and message": {"code": "Throttling", "message": "exploded-77"},
    "code and message beside no choices": {"choices": [], "code": "Throttling", "message": "exploded-77"},
    "code and msg": {"code": 1301, "msg": "exploded-77", "success": False},
    "error_code and error_msg": {"error_code": 336003, "error_msg": "exploded-77"},
    "errors": {"errors": ["exploded-77"]},
    "a type that says error": {"type": "server_error", "message": "exploded-77"},
    "errors with messages": {"success": False, "errors": [{"code": 7009, "message": "exploded-77"}]},
    "error that is true": {"error": True, "message": "exploded-77"},
    "an error of no type with a code that is a text": {"error": {"message": "exploded-77", "code": "500"}},
    "letters of the other case": {"Message": "exploded-77"},
    "errorMessage": {"errorMessage": "exploded-77", "errorType": "Runtime.ExitError"},
    "statusCode": {"statusCode": 429, "message": "exploded-77"},
    "a problem (RFC 9457)": {"type": "about:blank", "title": "Bad", "status": 502, "detail": "exploded-77"},
    "a problem without a detail": {"type": "https://a.example/p", "title": "exploded-77", "status": 503},
    "fault": {"fault": {"faultstring": "exploded-77", "detail": {"errorcode": "QuotaViolation"}}},
    "Response.Error": {"Response": {"Error": {"Code": "Limit", "Message": "exploded-77"}, "RequestId": "r"}},
    "ResponseMetadata.Error": {"ResponseMetadata": {"Error": {"Code": "X", "Message": "exploded-77"}}},
    "Output of AWS": {"Output": {"__type": "InternalFailure", "message": "exploded-77"}, "Version": "1.0"},
    "header": {"header": {"code": 10013, "message": "exploded-77", "sid": "s"}},
}
WHOLE: dict[str, dict[str, Any]] = {
    "usage alone": {**CHUNK, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
    "base_resp without a fault": {**CHUNK, "choices": [], "base_resp": {"status_code": 0, "status_msg": ""}},
    "no choices": {**CHUNK, "choices": []},
    "error that is null": {**CHUNK, "choices": [], "error": None},
    "a ping": {"type": "ping"},
    "something else": {"x_metadata": {"message": "hello"}},
    "a title of no fault": {"title": "Weather", "status": "ok", "x": 1, "choices": []},
    "a header without a fault": {**CHUNK, "header": {"code": 0, "message": "Success"}, "choices": []},
}


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    return {**CHUNK, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def streamed(*events: dict[str, Any]) -> Reply:
    parser = get_format("openai").parse_stream()
    parser.feed(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events))
    return parser.end()


@pytest.mark.requirement("I25.2.2")
@pytest.mark.parametrize(("stop", "word"), [(stop, word) for stop, words in ENDS.items() for word in words])
def test_the_end_is_known_in_every_providers_words(stop: str, word: Any) -> None:
    assert stop_reason(word) == stop


@pytest.mark.requirement("I25.2.2")
def test_an_unknown_word_is_named_and_a_known_one_is_not() -> None:
    assert any("'phase_of_the_moon'" in note for note in streamed(chunk("Hi", "phase_of_the_moon")).notes)
    assert streamed(chunk("Hi", "stop")).notes == ()


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("before", [(), (chunk("Half of the "),)], ids=["first", "after text"])
@pytest.mark.parametrize("shape", ERRORS)
def test_an_error_within_a_stream_is_one_in_any_shape(shape: str, before: tuple[dict[str, Any], ...]) -> None:
    parser = get_format("openai").parse_stream()
    sent = [*before, ERRORS[shape]]
    with pytest.raises(StreamFailed, match="exploded-77"):
        parser.feed(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in sent))
    reply = parser.end()
    assert reply.incomplete and reply.message.text == ("Half of the " if before else "")


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("wire", ["openai", "openai-responses", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize("shape", ERRORS)
def test_an_error_within_a_stream_of_any_format_is_one_in_any_shape(shape: str, wire: str) -> None:
    answers = Wire(wire).answers
    begun: list[bytes] = answers.frames("Half of it.", [])[:-2]
    for frames in (begun, begun[:0]):
        parser = get_format(wire).parse_stream()
        sent = json.dumps(ERRORS[shape]).encode()
        for frame in frames:
            parser.feed(frame)
        with pytest.raises(StreamFailed, match="exploded-77"):
            parser.feed(sent + b"\n" if wire == "ollama" else b"data: " + sent + b"\n\n")
        assert parser.end().incomplete


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("wire", ["openai", "openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize(
    "data",
    ["exploded-77", '{"weather": "exploded-77"}', '{"msg": "exploded-77"}', '[{"error": "exploded-77"}]'],
)
def test_an_event_that_is_named_error_is_one_whatever_it_holds(data: str, wire: str) -> None:
    parser = get_format(wire).parse_stream()
    with pytest.raises(StreamFailed, match="exploded-77"):
        parser.feed(f"event: error\ndata: {data}\n\n".encode())


@pytest.mark.requirement("I25.2.1")
def test_an_error_beside_a_chunk_of_groq_is_one() -> None:
    with pytest.raises(StreamFailed, match="exploded-77"):
        streamed(chunk("Half"), {**chunk(""), "x_groq": {"id": "r", "error": "exploded-77"}})


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("wire", ["openai", "openai-responses", "anthropic", "gemini", "ollama", "bedrock"])
@pytest.mark.parametrize("shape", ERRORS)
def test_an_error_in_place_of_an_answer_is_one_in_any_shape(shape: str, wire: str) -> None:
    with pytest.raises(StreamFailed, match="exploded-77"):
        get_format(wire).parse_reply(json.dumps(ERRORS[shape]).encode())


@pytest.mark.requirement("I25.2.1")
@pytest.mark.parametrize("shape", WHOLE)
def test_what_is_no_error_ends_no_stream(shape: str) -> None:
    reply = streamed(chunk("Hello."), WHOLE[shape], chunk("", "stop"))
    assert (reply.message.text, reply.stop, reply.incomplete) == ("Hello.", "stop", False)


@pytest.mark.requirement("I25.2.1")
def test_the_status_of_an_error_within_an_answer_says_whether_to_ask_again() -> None:
    statuses = {}
    for code in (1002, 1004, 1008, 1000, 2056):
        with pytest.raises(StreamFailed) as failed:
            streamed({"base_resp": {"status_code": code, "status_msg": "m"}})
        statuses[code] = (failed.value.error.status, failed.value.error.retryable)
    expected = {1002: (429, True), 1004: (401, False), 1008: (402, False), 1000: (500, True)}
    assert statuses == {**expected, 2056: (429, True)}
    for body, status in (
        ({"statusCode": 429, "message": "m"}, 429),
        ({"title": "m", "status": 503}, 503),
        ({"Message": "m", "StatusCode": "408"}, 408),
        ({"error": {"message": "m", "code": "529"}}, 529),
        ({"error": {"message": "m", "status": 404}}, 404),
    ):
        with pytest.raises(StreamFailed) as failed:
            streamed(body)
        assert failed.value.error.status == status, body


@pytest.mark.requirement("I25.2.3")
def test_a_turn_of_claude_with_a_reason_is_whole_without_its_last_frame() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    for count in (5, 4):
        parser = get_format("anthropic").parse_stream()
        sent = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events[:count])
        parser.feed("".join(sent).encode())
        assert parser.end().incomplete is (count < 5)
