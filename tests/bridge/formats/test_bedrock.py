"""Bedrock Converse: the exact wire, checked by botocore's own service model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer
from botocore.parsers import EventStreamJSONParser
from botocore.session import Session

from tests.support.outcomes import PDF, PNG, WAV, failed, image, part, said, succeeded
from tests.support.provider_rules.bedrock import check_request
from tests.support.wires.bedrock import CITED, answer, events, frames, written
from toolspan_bridge.formats import bedrock
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

pytestmark = pytest.mark.requirement("I2.6.2")

TOOL = ToolSpec("s", "t", "d", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = ToolCall("c1", "s__t", {"city": "Oslo"})
DOCUMENT = part("resource", resource={"uri": "a.pdf", "mimeType": "application/pdf", "blob": PDF})


CLAUDE = "us.anthropic.claude-sonnet-4-6"
OWN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1"


def render(*messages: Message, tools: Any = (TOOL,), model: str = CLAUDE, **options: Any) -> dict[str, Any]:
    options = {"cache": False, **options}
    body = bedrock.render_request(Request(model, messages, tools=tools, **options), NameTable.of(tools))
    check_request(body, model)
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
    body = render(User("hi"), tool_choice="none", system="Be brief.", model=OWN)
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
        ("model_context_window_exceeded", "context"),
        ("malformed_tool_use", "malformed"),
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
        "written_tokens": 4,
    }


@pytest.mark.requirement("I5.1.1")
def test_one_tool_can_be_demanded_unless_the_model_thinks() -> None:
    def choice(**options: Any) -> Any:
        return render(User("hi"), **options)["toolConfig"]["toolChoice"]

    assert choice(tool_choice=("s", "t")) == {"tool": {"name": "s__t"}}
    assert choice(tool_choice=("s", "gone")) == {"auto": {}}
    thought = {"reasoningContent": {"reasoningText": {"text": "hmm", "signature": "c2ln"}}}
    past = Assistant("So.", opaque=[thought, {"text": "So."}], opaque_format="bedrock")
    known = render(User("hi"), past, User("And?"), tool_choice="required")
    assert known["toolConfig"]["toolChoice"] == {"auto": {}}
    asked = render(User("hi"), tool_choice=("s", "t"), wire=WireOptions(thinking=True))
    assert asked["toolConfig"]["toolChoice"] == {"auto": {}}
    assert asked["system"] == [{"text": "Answer by calling the tool s__t."}]
    assert render(User("hi"), tool_choice="required", wire=WireOptions(thinking=True))["system"] == [
        {"text": "Answer by calling one of the tools."}
    ]


@pytest.mark.requirement("I5.1.4")
def test_what_comes_with_a_question_stands_before_it() -> None:
    sound = part("audio", data=WAV, mimeType="audio/wav")
    first, second = User("What is this?", (image(), DOCUMENT, sound)), User("And this?", (DOCUMENT,))
    content = render(first, Assistant("A map."), second)["messages"][0]["content"]
    assert content[0] == {"image": {"format": "png", "source": {"bytes": PNG}}}
    assert content[1]["document"]["name"] == "document 0-1"
    assert content[2]["text"].endswith("omitted, 68 B]") and content[3] == {"text": "What is this?"}
    blind = render(first, vision=False)["messages"][0]["content"]
    assert blind[0] == {"text": "[image/png omitted, 68 B]"}


@pytest.mark.requirement("I5.1.4")
def test_a_failed_result_holds_text_only() -> None:
    (sent,) = content(failed(said("boom"), image()))
    assert sent["toolResult"]["content"] == [{"text": "[tool error] boom\n\n[image/png omitted, 68 B]"}]


def test_text_with_citations_is_text() -> None:
    body = {"output": {"message": {"role": "assistant", "content": [CITED]}}, "stopReason": "end_turn"}
    assert bedrock.parse_reply(body).message.text == "It snows."


@pytest.mark.requirement("I5.2.5")
def test_the_refused_tool_is_named_by_its_place() -> None:
    said_so = b'{"message": "The model returned the following errors: tools.4.custom.input_schema: no"}'
    assert bedrock.parse_error(400, {}, said_so).tool == 4


@pytest.mark.requirement("I5.1.2", "I5.4.2")
def test_botocore_reads_the_streams_that_these_tests_are_made_of() -> None:
    model = Session().get_service_model("bedrock-runtime")
    shape = model.operation_model("ConverseStream").output_shape.members["stream"]
    buffer = EventStreamBuffer()
    buffer.add_data(b"".join(frames("Hello", [("c1", "s__t", {"a": 1})])))
    read = [EventStreamJSONParser().parse(each.to_response_dict(), shape) for each in buffer]
    assert "messageStart" in read[0]
    assert read[-2]["messageStop"]["stopReason"] == "tool_use"
    assert read[-1]["metadata"]["usage"]["inputTokens"] == 8
    pieces = [each["contentBlockDelta"]["delta"] for each in read if "contentBlockDelta" in each]
    assert "".join(piece.get("toolUse", {}).get("input", "") for piece in pieces) == '{"a": 1}'


@pytest.mark.requirement("I5.1.2")
def test_a_stream_without_its_usage_is_whole() -> None:
    parser = bedrock.parse_stream()
    for sent in frames("Hello")[:-1]:
        parser.feed(sent)
    reply = parser.end()
    assert (reply.message.text, reply.incomplete, reply.usage.input_tokens) == ("Hello", False, 0)


@pytest.mark.requirement("I5.1.2", "I5.4.6")
@pytest.mark.parametrize("left_out", ["contentBlockStart", "contentBlockStop", "messageStop"])
def test_a_stream_that_lacks_one_of_its_marks_carries_out_nothing(left_out: str) -> None:
    sent = list(events(answer("I look.", [("c1", "s__t", {"city": "Oslo"})])))
    place = max(number for number, (name, _) in enumerate(sent) if name == left_out)
    parser = bedrock.parse_stream()
    for event in [*sent[:place], *sent[place + 1 :]]:
        parser.feed(written(*event))
    reply = parser.end()
    assert reply.incomplete and reply.message == Assistant("I look.", incomplete=True)
