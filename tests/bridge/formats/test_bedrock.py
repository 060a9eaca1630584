"""Bedrock Converse: the exact wire, checked by botocore's own service model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.outcomes import PDF, PNG, failed, image, part, said, succeeded
from tests.support.provider_rules.bedrock import check_request
from tests.support.wires.bedrock import answer
from toolspan_bridge.formats import bedrock
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Assistant, Message, Request, ToolCall, ToolResults, ToolSpec, User

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("c1", "s__t", {"city": "Oslo"})
DOCUMENT = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})


def render(*messages: Message, tools: Any = (TOOL,), **options: Any) -> dict[str, Any]:
    body = bedrock.render_request(Request("m", messages, tools=tools, **options), NameTable.of(tools))
    check_request(body)
    return body


def content(*outcomes: Any, **options: Any) -> list[dict[str, Any]]:
    calls = tuple(ToolCall(outcome.call_id, "s__t", {}) for outcome in outcomes)
    body = render(User("hi"), Assistant("", calls), ToolResults(outcomes), **options)
    return list(body["messages"][2]["content"])


@pytest.mark.requirement("I2.6.5")
def test_tools_as_they_are_sent() -> None:
    bare = ToolSpec("s", "u", " ", {"type": "object"})
    assert bedrock.render_tools([TOOL, bare], NameTable.of([TOOL, bare])) == [
        {
            "toolSpec": {
                "name": "s__t",
                "description": "d",
                "inputSchema": {"json": {"type": "object", "properties": {"city": {"type": "string"}}}},
            }
        },
        {"toolSpec": {"name": "s__u", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
    ]


def test_a_conversation_as_it_is_sent() -> None:
    results = ToolResults((succeeded(said("7 degrees")),))
    body = render(
        User("hi"), Assistant("So.", (CALL,)), results, User("thanks"), system="Be brief.", max_tokens=9
    )
    assert body["system"] == [{"text": "Be brief."}]
    assert body["inferenceConfig"] == {"maxTokens": 9}
    assert body["toolConfig"]["toolChoice"] == {"auto": {}}
    assert body["messages"] == [
        {"role": "user", "content": [{"text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"text": "So."},
                {"toolUse": {"toolUseId": "c1", "name": "s__t", "input": {"city": "Oslo"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": "7 degrees"}], "status": "success"}},
                {"text": "thanks"},
            ],
        },
    ]


def test_there_is_no_choice_of_none_so_it_is_said_in_words() -> None:
    body = render(User("hi"), tool_choice="none", system="Be brief.")
    assert body["toolConfig"]["toolChoice"] == {"auto": {}}
    assert body["system"][1] == {"text": "Answer in words now, without calling a tool."}
    assert render(User("hi"), tool_choice="required")["toolConfig"]["toolChoice"] == {"any": {}}
    assert render(User("hi"), tool_choice="none", tools=()).keys() == {"messages"}


def test_without_tools_past_calls_are_told_in_words() -> None:
    history = (User("hi"), Assistant("So.", (CALL,)), ToolResults((failed(said("boom")),)), User("and?"))
    assert render(*history, tools=())["messages"][1:] == [
        {"role": "assistant", "content": [{"text": 'So.\n[called s__t with {"city":"Oslo"}]'}]},
        {"role": "user", "content": [{"text": "[s__t gave] [tool error] boom"}, {"text": "and?"}]},
    ]


def test_reasoning_is_sent_back_verbatim_without_blank_text() -> None:
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "hmm", "signature": "c2ln"}}},
        {"text": ""},
        {"toolUse": {"toolUseId": "x1", "name": "s__t", "input": {}}},
    ]
    body = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "tool_use"}
    message = bedrock.parse_reply(body).message
    sent = render(User("hi"), message, ToolResults((succeeded(call_id="x1"),)))["messages"][1]["content"]
    assert sent == [blocks[0], blocks[2]]


def test_a_call_that_the_provider_carries_out_itself_is_not_ours() -> None:
    blocks = [
        {"toolUse": {"toolUseId": "x1", "name": "web", "input": {}, "type": "server_tool_use"}},
        {"text": "Found."},
    ]
    body = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "end_turn"}
    message = bedrock.parse_reply(body).message
    assert message.calls == ()
    assert render(User("hi"), message)["messages"][1]["content"] == blocks


def test_results_are_json_texts_or_errors() -> None:
    def result(outcome: Any) -> Any:
        return content(outcome)[0]["toolResult"]

    assert result(succeeded(said('{"a":1}'), structured={"a": 1}))["content"] == [{"json": {"a": 1}}]
    assert result(succeeded(structured=[1]))["content"] == [{"text": "[1]"}]
    assert result(succeeded())["content"] == [{"text": "(no output)"}]
    broken = result(failed(said("boom")))
    assert (broken["content"], broken["status"]) == ([{"text": "[tool error] boom"}], "error")


def test_images_and_documents_stand_in_the_result() -> None:
    first, note = content(succeeded(image(), DOCUMENT))
    assert first["toolResult"]["content"] == [
        {"text": "[application/pdf a.pdf follows below]"},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"document": {"format": "pdf", "name": "document c1-1", "source": {"bytes": PDF}}},
    ]
    assert note == {"text": "Documents are in the results above."}


def test_at_most_twenty_images_and_five_documents_in_a_turn() -> None:
    many = [succeeded(*[image()] * 15, *[DOCUMENT] * 3, call_id=f"c{n}") for n in range(2)]
    sent = json.dumps(content(*many))
    assert sent.count('"image"') == 20 and sent.count("[image/png omitted") == 10
    assert sent.count('"document"') == 5 and sent.count("a.pdf omitted") == 1


def test_a_model_that_sees_nothing_still_gets_documents() -> None:
    sent = json.dumps(content(succeeded(image(), DOCUMENT), vision=False))
    assert "[image/png omitted" in sent and '"document"' in sent


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop_sequence", "stop"),
        ("guardrail_intervened", "refusal"),
        ("content_filtered", "refusal"),
        ("model_context_window_exceeded", "length"),
        ("malformed_tool_use", "other"),
    ],
)
def test_reasons_to_stop(reason: str, stop: str) -> None:
    assert bedrock.parse_reply({**answer("x"), "stopReason": reason}).stop == stop


def test_cached_tokens_count_as_input() -> None:
    body = answer("x")
    body["usage"]["cacheWriteInputTokens"] = 4
    assert bedrock.parse_reply(body).usage.as_dict() == {
        "input_tokens": 15,
        "output_tokens": 7,
        "cached_tokens": 3,
        "reasoning_tokens": 0,
    }
