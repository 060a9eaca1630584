"""Gemini ``v1beta``: the exact wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.outcomes import PDF, PNG, failed, image, part, said, succeeded
from tests.support.provider_rules.gemini import check_request
from tests.support.wires.gemini import answer
from toolspan_bridge.formats import gemini
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Message, Request, ToolCall, ToolResults, ToolSpec, User

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("c1", "s__t", {"city": "Oslo"})


def render(
    *messages: Message, model: str = "gemini-3-pro", tools: Any = (TOOL,), **options: Any
) -> dict[str, Any]:
    request = Request(model, messages, tools=tools, **options)
    body = gemini.render_request(request, NameTable.of(tools))
    check_request(body)
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
    assert (reply.message.text, reply.stop) == ("The prompt was blocked: SAFETY", "refusal")
    assert reply.usage.input_tokens == 4


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("STOP", "stop"), ("SAFETY", "refusal"), ("MAX_TOKENS", "length"), ("MALFORMED_FUNCTION_CALL", "other")],
)
def test_reasons_to_stop_even_without_content(reason: str, stop: str) -> None:
    reply = gemini.parse_reply({"candidates": [{"finishReason": reason, "finishMessage": "Why."}]})
    assert (reply.message.text, reply.stop) == ("Why.", stop)


def test_thoughts_count_as_output_and_tool_prompts_as_input() -> None:
    body = answer("x")
    body["usageMetadata"]["toolUsePromptTokenCount"] = 4
    assert gemini.parse_reply(body).usage.as_dict() == {
        "input_tokens": 15,
        "output_tokens": 7,
        "cached_tokens": 3,
        "reasoning_tokens": 2,
    }
