"""Gemini ``v1beta``: the exact wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.outcomes import PDF, PNG, failed, image, part, said, succeeded
from tests.support.provider_rules.gemini import check_request
from tests.support.wires.gemini import ARRAYS, STREAMS, answer, event, signed
from toolspan_bridge.formats import StreamFailed, gemini
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

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("c1", "s__t", {"city": "Oslo"})


def render(
    *messages: Message, model: str = "gemini-3-pro", tools: Any = (TOOL,), **options: Any
) -> dict[str, Any]:
    request = Request(model, messages, tools=tools, **options)
    body = gemini.render_request(request, NameTable.of(tools))
    check_request(body, model)
    return body


def exchange(*outcomes: Any, **options: Any) -> list[dict[str, Any]]:
    return list(render(User("hi"), Assistant("", (CALL,)), ToolResults(outcomes), **options)["contents"][2:])


@pytest.mark.requirement("I2.6.5")
def test_tools_as_they_are_sent() -> None:
    bare = ToolSpec("s", "u", "", {"type": "object", "title": "Titled"})
    tools = [TOOL, bare, ToolSpec("s", "v", "", {})]
    assert gemini.render_tools(tools, NameTable.of(tools)) == [
        {
            "functionDeclarations": [
                {
                    "name": "s__t",
                    "description": "d",
                    "parametersJsonSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
                },
                {
                    "name": "s__u",
                    "description": "Titled",
                    "parametersJsonSchema": {"type": "object", "title": "Titled", "properties": {}},
                },
                {
                    "name": "s__v",
                    "description": "s__v",
                    "parametersJsonSchema": {"type": "object", "properties": {}},
                },
            ]
        }
    ]


def test_a_conversation_as_it_is_sent() -> None:
    results = ToolResults((succeeded(said("7 degrees")),))
    body = render(User("hi"), Assistant("So.", (CALL,)), results, system="Be brief.", max_tokens=9)
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["generationConfig"] == {"maxOutputTokens": 9}
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "hi"}]},
        {
            "role": "model",
            "parts": [
                {"text": "So."},
                {
                    "functionCall": {"id": "c1", "name": "s__t", "args": {"city": "Oslo"}},
                    "thoughtSignature": "skip_thought_signature_validator",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "s__t", "response": {"output": "7 degrees"}}}
            ],
        },
    ]


@pytest.mark.parametrize(("choice", "mode"), [("auto", "AUTO"), ("none", "NONE"), ("required", "ANY")])
def test_tool_choices(choice: Any, mode: str) -> None:
    assert render(User("hi"), tool_choice=choice)["toolConfig"] == {"functionCallingConfig": {"mode": mode}}
    assert render(User("hi"), tool_choice=choice, tools=()).keys() == {"contents"}


def test_its_own_parts_are_sent_back_verbatim() -> None:
    parts = [
        {"text": "thinking", "thought": True},
        {"text": "So.", "thoughtSignature": "YQ=="},
        {"functionCall": {"id": "x1", "name": "s__t", "args": {}}, "thoughtSignature": "Yg=="},
        {"functionCall": {"id": "x2", "name": "s__t", "args": {"city": "Oslo"}}},
    ]
    body = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    message = gemini.parse_reply(body).message
    assert message.text == "So." and [call.id for call in message.calls] == ["x1", "x2"]
    results = ToolResults((succeeded(call_id="x1"), succeeded(call_id="x2")))
    assert render(User("hi"), message, results)["contents"][1] == {"role": "model", "parts": parts}


def test_a_call_that_came_without_an_id_is_answered_without_one() -> None:
    message = gemini.parse_reply(answer("", [(None, "s__t", {}), (None, "s__t", {})])).message
    outcomes = tuple(succeeded(said(call.id), call_id=call.id) for call in message.calls)
    contents = render(User("hi"), message, ToolResults(outcomes))["contents"]
    assert "id" not in contents[1]["parts"][0]["functionCall"]
    responses = [entry["functionResponse"] for entry in contents[2]["parts"]]
    assert [response.keys() for response in responses] == [{"name", "response"}] * 2
    assert [response["response"]["output"] for response in responses] == [call.id for call in message.calls]


def test_parts_that_no_longer_fit_the_calls_are_written_anew() -> None:
    message = gemini.parse_reply(answer("So.", [("x1", "s__t", {}), ("x2", "s__t", {})])).message
    edited = Assistant(message.text, message.calls[:1], message.opaque, message.opaque_format)
    parts = render(User("hi"), edited, ToolResults((succeeded(call_id="x1"),)))["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, "skip_thought_signature_validator"]


@pytest.mark.parametrize(("model", "signed"), [("gemini-2.5-flash", False), ("gemini-flash-latest", True)])
def test_older_models_need_no_signature(model: str, signed: bool) -> None:
    contents = render(User("hi"), Assistant("", (CALL,)), model=model)["contents"]
    assert ("thoughtSignature" in contents[1]["parts"][0]) is signed


def test_results_are_values_texts_or_errors() -> None:
    def response(outcome: Any) -> Any:
        return exchange(outcome)[0]["parts"][0]["functionResponse"]["response"]

    assert response(succeeded(said("[1]"), structured=[1])) == {"output": [1]}
    assert response(succeeded(said("see"), structured={"a": 1})) == {"output": {"a": 1}, "text": "see"}
    assert response(succeeded()) == {"output": ""}
    assert response(failed(said("boom"))) == {"error": "boom"}


def test_media_go_inside_the_response_from_gemini_3_on_but_sound_follows() -> None:
    sound = part("audio", data="AAAA", mimeType="audio/wav")
    document = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
    first, second = exchange(succeeded(image(), sound, document))
    (response,) = [entry["functionResponse"] for entry in first["parts"]]
    assert [entry["inlineData"]["mimeType"] for entry in response["parts"]] == [
        "image/png",
        "application/pdf",
    ]
    assert response["response"] == {"output": "[audio/wav follows below]"}
    assert second["parts"][1] == {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-flash-latest"])
def test_media_follow_in_another_content_for_other_models(model: str) -> None:
    document = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
    first, second = exchange(succeeded(image(), document), model=model)
    response = first["parts"][0]["functionResponse"]
    assert "parts" not in response
    assert response["response"]["output"].startswith(
        "[image/png follows below]\n\n[application/pdf a.pdf omitted"
    )
    assert second["parts"] == [
        {"text": "From the tool s__t:"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
    ]


def test_a_blocked_prompt_is_a_refusal() -> None:
    body = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    reply = gemini.parse_reply(body)
    assert (reply.message.text, reply.stop) == ("", "refusal")
    assert reply.notes == ("The prompt was blocked: SAFETY",)
    assert reply.usage.input_tokens == 4


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "stop"),
        ("SAFETY", "refusal"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("UNEXPECTED_TOOL_CALL", "malformed"),
    ],
)
def test_reasons_to_stop_even_without_content(reason: str, stop: str) -> None:
    reply = gemini.parse_reply({"candidates": [{"finishReason": reason, "finishMessage": "Why."}]})
    assert (reply.message.text, reply.stop) == ("", stop)
    assert reply.notes == (() if reason == "STOP" else (f"Gemini ended its turn ({reason}): Why.",))


@pytest.mark.requirement("I5.1.1")
@pytest.mark.parametrize("reason", ["MAX_TOKENS", "CONTINUATION", "SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_a_call_of_a_turn_that_ended_badly_is_not_carried_out(reason: str) -> None:
    body = answer("So.", [("x1", "s__t", {})])
    body["candidates"][0]["finishReason"] = reason
    reply = gemini.parse_reply(body)
    assert reply.message == Assistant("So.") and [call.id for call in reply.cut_calls] == ["x1"]


@pytest.mark.requirement("I5.1.3")
def test_signatures_keep_their_places_through_streaming_saving_and_loading() -> None:
    frames, body = STREAMS["thoughts and signatures"]
    parser = gemini.parse_stream()
    parser.feed(b"".join(frames))
    message = parser.end().message
    loaded = Assistant(message.text, message.calls, json.loads(json.dumps(message.opaque)), "gemini")
    results = ToolResults((succeeded(call_id="c1"), succeeded(call_id="c2")))
    sent = render(User("hi"), loaded, results)["contents"][1]["parts"]
    assert sent == body["candidates"][0]["content"]["parts"]
    assert [entry.get("thoughtSignature") for entry in sent] == [None, "YQ==", None, "c2ln", None]


@pytest.mark.requirement("I5.1.3")
def test_a_signature_alone_is_sent_back_and_an_empty_text_is_not() -> None:
    late = {"text": "", "thoughtSignature": "Yg=="}
    message = gemini.parse_reply(signed({"text": "Hi."}, {"text": ""}, late)).message
    assert render(User("hi"), message)["contents"][1]["parts"] == [{"text": "Hi."}, late]


@pytest.mark.requirement("I5.1.2")
def test_an_empty_piece_parts_nothing() -> None:
    pieces: list[dict[str, Any]] = [{"text": "It is "}, {"text": "", "thought": True}, {"text": "seven."}]
    parser = gemini.parse_stream()
    for piece in pieces:
        parser.feed(event({"candidates": [{"content": {"parts": [piece]}}]}))
    parser.feed(event({"candidates": [{"finishReason": "STOP"}]}))
    assert parser.end().message.opaque == [{"text": "It is seven."}]


@pytest.mark.requirement("I5.1.2")
@pytest.mark.parametrize("name", ARRAYS)
def test_a_stream_may_be_a_json_array_in_any_pieces(name: str) -> None:
    frames, body = ARRAYS[name]
    whole = b"".join(frames)
    for size in (1, 2, 7, len(whole)):
        parser = gemini.parse_stream()
        for start in range(0, len(whole), size):
            parser.feed(whole[start : start + size])
        assert parser.end() == gemini.parse_reply(body)


@pytest.mark.requirement("I5.1.2", "I5.4.5")
def test_an_error_in_the_middle_keeps_its_status_and_what_came() -> None:
    parser = gemini.parse_stream()
    parser.feed(event({"candidates": [{"content": {"parts": [{"text": "So."}]}}]}))
    with pytest.raises(StreamFailed) as caught:
        parser.feed(event({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}))
    assert (caught.value.error.status, caught.value.error.retryable) == (429, True)
    assert parser.end().message.text == "So." and parser.end().incomplete


@pytest.mark.requirement("I5.1.5")
def test_search_stands_beside_functions_from_gemini_3_on() -> None:
    mixed = render(User("hi"), builtins=("web_search", "fax"))
    assert [next(iter(tool)) for tool in mixed["tools"]] == ["functionDeclarations", "googleSearch"]
    assert mixed["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"},
        "includeServerSideToolInvocations": True,
    }
    for model in ("gemini-2.5-pro", "gemini-flash-latest"):
        plain = render(User("hi"), model=model, builtins=("web_search",))
        assert plain == render(User("hi"), model=model) and not gemini.mixes(model)
    alone = render(User("hi"), tools=(), model="gemini-2.5-pro", builtins=("web_search",))
    assert alone["tools"] == [{"googleSearch": {}}] and "toolConfig" not in alone


@pytest.mark.requirement("I5.1.1")
def test_one_tool_can_be_forced() -> None:
    forced = {"mode": "ANY", "allowedFunctionNames": ["s__t"]}
    assert render(User("hi"), tool_choice=("s", "t"))["toolConfig"] == {"functionCallingConfig": forced}
    gone = render(User("hi"), tool_choice=("s", "gone"))["toolConfig"]
    assert gone == {"functionCallingConfig": {"mode": "AUTO"}}


@pytest.mark.requirement("I5.1.4")
def test_a_question_may_hold_images_sound_and_documents() -> None:
    document = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})
    sound = part("audio", data="AAAA", mimeType="audio/wav")
    parts = render(User("What?", (image(), sound, document)))["contents"][0]["parts"]
    assert parts[0] == {"text": "What?"}
    assert [entry["inlineData"]["mimeType"] for entry in parts[1:]] == [
        "image/png",
        "audio/wav",
        "application/pdf",
    ]
    blind = render(User("What?", (image(),)), vision=False)["contents"][0]["parts"]
    assert blind[1] == {"text": "[image/png omitted, 68 B]"}


@pytest.mark.requirement("I5.2.1")
def test_integers_that_no_double_holds_are_sent_as_text_and_reported() -> None:
    results = ToolResults((succeeded(structured={"a": 2**53, "b": [2**60], "c": -(2**53) - 1, "d": True}),))
    foreign = ToolCall("c1", "s__t", {"n": 2**60})
    contents = render(User("hi"), Assistant("", (foreign,)), results)["contents"]
    assert contents[1]["parts"][0]["functionCall"]["args"] == {"n": str(2**60)}
    assert contents[2]["parts"][0]["functionResponse"]["response"]["output"] == {
        "a": 2**53,
        "b": [str(2**60)],
        "c": str(-(2**53) - 1),
        "d": True,
    }
    wide = {"n": {"type": "integer", "format": "int64"}, "m": {"type": "integer", "maximum": 2**60}}
    tool = ToolSpec("s", "t", "d", {"type": "object", "properties": wide})
    assert [(loss.rule, loss.pointer) for loss in gemini.losses([tool])] == [
        ("wide-integer", "/properties/n"),
        ("wide-integer", "/properties/m"),
    ]


@pytest.mark.requirement("I5.2.5")
@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("* GenerateContentRequest.tools[0].function_declarations[3].parameters: bad", 3),
        ("Unknown name \"x\" at 'tools[0].functionDeclarations[12]': Cannot find field.", 12),
        ("Duplicate function declaration found: s__t", "s__t"),
        ("contents is not specified", None),
    ],
)
def test_a_refused_tool_is_named(message: str, tool: Any) -> None:
    body = json.dumps({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}).encode()
    assert gemini.parse_error(400, {}, body).tool == tool
    assert gemini.parse_error(500, {}, body).tool is None


def test_thoughts_count_as_output_and_tool_prompts_as_input() -> None:
    body = answer("x")
    body["usageMetadata"]["toolUsePromptTokenCount"] = 4
    assert gemini.parse_reply(body).usage.as_dict() == {
        "input_tokens": 15,
        "output_tokens": 7,
        "cached_tokens": 3,
        "reasoning_tokens": 2,
        "written_tokens": 0,
    }
