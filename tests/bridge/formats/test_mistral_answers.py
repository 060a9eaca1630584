"""Answers and chunks made of Mistral's own types: they are read, and go back as Mistral takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mistralai.client.models import (
    AssistantMessage,
    ChatCompletionChoice,
    ChatCompletionResponse,
    CompletionChunk,
    CompletionResponseStreamChoice,
    DeltaMessage,
    FunctionCall,
    ReferenceChunk,
    TextChunk,
    ThinkChunk,
    ToolCall,
    UsageInfo,
)

from tests.support.histories import Peer, answered
from tests.support.official_types import check_mistral
from toolspan_bridge.formats import get_format
from toolspan_bridge.messages import Reply, User

pytestmark = pytest.mark.requirement("I11.5.3")

USAGE = UsageInfo(prompt_tokens=11, completion_tokens=7, total_tokens=18)
WEATHER = FunctionCall(name="s__weather", arguments='{"city": "Tromsø"}')
AS_OBJECT = FunctionCall(name="s__weather", arguments={"city": "Tromsø"})
TIME = FunctionCall(name="s__time", arguments="{}")
CALLS = {
    "a text": [ToolCall(id="D681PevKs", function=WEATHER), ToolCall(id="D681PevKt", function=TIME, index=1)],
    "an object": [
        ToolCall(id="D681PevKs", function=AS_OBJECT),
        ToolCall(id="D681PevKt", function=TIME, index=1),
    ],
    "ids left at their default": [ToolCall(function=WEATHER), ToolCall(function=TIME)],
}
THOUGHTS = ThinkChunk(
    thinking=[TextChunk(text="Where is it? "), ReferenceChunk(reference_ids=[1]), TextChunk(text="North.")],
    signature="c2ln",
)
SAID = [THOUGHTS, TextChunk(text="I look"), TextChunk(text=" it up.")]


def whole(message: AssistantMessage, finish: str = "tool_calls") -> Reply:
    choice = ChatCompletionChoice(index=0, message=message, finish_reason=finish)
    body = ChatCompletionResponse(
        id="c", object="chat.completion", model="m", created=1, usage=USAGE, choices=[choice]
    )
    return Peer("openai@mistral").reads(json.loads(body.model_dump_json()))


def streamed(*deltas: DeltaMessage, finish: str = "tool_calls") -> Reply:
    stream = get_format("openai").parse_stream()
    for place, delta in enumerate(deltas, 1):
        last = place == len(deltas)
        choice = CompletionResponseStreamChoice(index=0, delta=delta, finish_reason=finish if last else None)
        chunk = CompletionChunk(
            id="c", object="chat.completion.chunk", model="m", choices=[choice], usage=USAGE if last else None
        )
        stream.feed(b"data: " + chunk.model_dump_json().encode() + b"\n\n")
    stream.feed(b"data: [DONE]\n\n")
    return stream.end()


def made(reply: Reply) -> list[Any]:
    return [(call.name, call.arguments) for call in reply.message.calls]


def sent_back(reply: Reply) -> dict[str, Any]:
    """The turn in the request after it, which Mistral's client would send."""
    messages = [User("hi"), reply.message, *answered(reply.message.calls), User("And now?")]
    body = json.loads(Peer("openai@mistral", reply.message.origin).ask(messages))
    check_mistral(body)
    turn: dict[str, Any] = body["messages"][1]
    return turn


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_calls_are_read_whole_and_streamed(calls: list[ToolCall]) -> None:
    replies = (
        whole(AssistantMessage(content="", tool_calls=calls)),
        streamed(DeltaMessage(role="assistant", content=""), DeltaMessage(content="", tool_calls=calls)),
        streamed(*(DeltaMessage(tool_calls=[call]) for call in calls)),
    )
    for reply in replies:
        assert made(reply) == [("s__weather", {"city": "Tromsø"}), ("s__time", {})]
        assert len({call.id for call in reply.message.calls}) == 2
        assert reply.usage.input_tokens == 11 and reply.usage.output_tokens == 7
        assert [call["function"]["name"] for call in sent_back(reply)["tool_calls"]] == [
            "s__weather",
            "s__time",
        ]


def test_thoughts_go_back_with_all_that_is_in_them() -> None:
    calls = CALLS["a text"]
    pieces = [
        DeltaMessage(role="assistant", content=[ThinkChunk(thinking=[TextChunk(text="Where is it? ")])]),
        DeltaMessage(content=[ThinkChunk(thinking=[ReferenceChunk(reference_ids=[1])])]),
        DeltaMessage(content=[ThinkChunk(thinking=[TextChunk(text="No")])]),
        DeltaMessage(content=[ThinkChunk(thinking=[TextChunk(text="rth.")], signature="c2ln")]),
        DeltaMessage(content="I look"),
        DeltaMessage(content=" it up.", tool_calls=calls),
    ]
    parts = [part.model_dump(mode="json", by_alias=True) for part in SAID]
    for reply in (whole(AssistantMessage(content=SAID, tool_calls=calls)), streamed(*pieces)):
        assert reply.message.text == "I look it up."
        content = sent_back(reply)["content"]
        assert content[0] == parts[0]
        assert "".join(part["text"] for part in content[1:]) == "I look it up."


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("model_length", "context"),
        ("error", "error"),
        ("tool_calls", "stop"),
    ],
)
def test_the_ends_of_a_turn_that_mistral_knows_are_known(finish: str, stop: str) -> None:
    reply = whole(AssistantMessage(content="Hi"), finish)
    assert (reply.message.text, reply.stop) == ("Hi", stop)
    if finish != "model_length":
        assert streamed(DeltaMessage(content="Hi"), finish=finish).stop == stop
