"""Responses through the gateway, by OpenAI's own client over a real socket."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.support.gateway import PNG, WEATHER, gateway
from tests.support.local_tools import Performed, turn
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Assistant, ToolResults, User

_TOOL: Any = {
    "type": "function",
    "name": "weather",
    "description": "x",
    "parameters": WEATHER,
    "strict": True,
}


def _client(url: str, key: str = "key-a") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


@pytest.mark.requirement("I15.3.17")
def test_a_response_goes_on_from_the_one_before_with_the_clients_result_and_the_hidden_turns() -> None:
    ours = Performed("lookup")
    turns = [
        turn(("lookup", {"q": "1"}), text="I look."),
        turn(("weather", {"city": "Paris"})),
        {"text": "It rains."},
        {"text": "Bye."},
    ]
    with gateway(turns, ours) as served, _client(served.url) as client:
        first = client.responses.create(
            model="m/x", instructions="Be brief.", input="Weather?", tools=[_TOOL]
        )
        assert [item.type for item in first.output] == ["message", "function_call"]
        call = first.output[1]
        assert call.type == "function_call"
        assert json.loads(call.arguments) == {"city": "Paris"}
        output: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
        second = client.responses.create(
            model="m/x", previous_response_id=first.id, input=output, tools=[_TOOL]
        )
        assert (second.output_text, second.status, second.previous_response_id) == (
            "It rains.",
            "completed",
            first.id,
        )
        client.responses.create(model="m/x", previous_response_id=second.id, input="Thanks")
    assert served.requests[0].system == "Be brief."
    assert served.requests[2].system == ""
    kinds = [type(message) for message in served.requests[3].messages]
    assert kinds == [User, Assistant, ToolResults, Assistant, ToolResults, Assistant, User]
    assert ours.calls == [{"q": "1"}]


@pytest.mark.requirement("I15.3.17")
def test_input_items_may_hold_the_whole_history() -> None:
    turns = [turn(("lookup", {})), {"text": "One."}, {"text": "Two."}]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        first = client.responses.create(model="m/x", input="Weather?", store=False)
        items: Any = [
            {"role": "user", "content": "Weather?"},
            *first.output,
            {"role": "user", "content": "And?"},
        ]
        assert client.responses.create(model="m/x", input=items, store=False).output_text == "Two."
        with pytest.raises(openai.BadRequestError, match="was not stored") as caught:
            client.responses.create(model="m/x", input="x", previous_response_id=first.id)
    assert caught.value.code == "previous_response_not_found"
    assert [type(message) for message in served.requests[2].messages] == [
        User,
        Assistant,
        ToolResults,
        Assistant,
        User,
    ]


@pytest.mark.requirement("I15.3.17")
def test_a_stored_response_is_no_other_principals() -> None:
    with gateway([{"text": "One."}]) as served, _client(served.url) as client:
        first = client.responses.create(model="m/x", input="hi")
        with _client(served.url, "key-b") as other, pytest.raises(openai.BadRequestError):
            other.responses.create(model="m/x", input="x", previous_response_id=first.id)


@pytest.mark.requirement("I15.3.18")
def test_a_stream_has_every_event_in_order_with_numbers_and_ends_with_the_whole() -> None:
    turns = [
        turn(("lookup", {}), pieces=["I ", "look."], reasoning="They want it."),
        turn(("weather", {"city": "Paris"}), pieces=["Now."], usage={"input_tokens": 7, "output_tokens": 1}),
    ]
    asked: dict[str, Any] = {"tools": [_TOOL], "reasoning": {"summary": "auto"}}
    with (
        gateway(turns, Performed("lookup")) as served,
        _client(served.url) as client,
        client.responses.stream(model="m/x", input="Weather?", **asked) as stream,
    ):
        events = list(stream)
        whole = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 4
    assert [item.type for item in whole.output] == ["reasoning", "message", "message", "function_call"]
    assert whole.output_text == "I look.Now."
    assert whole.usage is not None
    assert whole.usage.total_tokens == 8


class Place(BaseModel):
    city: str


@pytest.mark.requirement("I15.3.19")
def test_structured_output_and_images_and_settings() -> None:
    parts: Any = [
        {"type": "input_text", "text": "Where?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
    ]
    with gateway([{"text": '{"city": "Paris"}'}]) as served, _client(served.url) as client:
        answer = client.responses.parse(
            model="m/x",
            input=[{"role": "user", "content": parts}],
            text_format=Place,
            max_output_tokens=60,
            parallel_tool_calls=False,
            reasoning={"effort": "minimal"},
            metadata={"a": "b"},
        )
    assert answer.output_parsed == Place(city="Paris")
    assert answer.metadata == {"a": "b"}
    (request,) = served.requests
    assert (request.max_tokens, request.parallel, request.reasoning) == (60, False, "low")
    assert request.messages[0].parts[0].data["data"] == PNG


@pytest.mark.requirement("I15.3.19")
def test_a_cut_answer_is_incomplete_and_a_failure_within_a_stream_is_a_failed_response() -> None:
    turns = [
        {"text": "One.", "stop": "length"},
        turn(("lookup", {}), pieces=["I look."]),
        ProviderError("gone", status=500),
    ]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        cut = client.responses.create(model="m/x", input="hi")
        events = list(client.responses.create(model="m/x", input="hi", stream=True))
    assert cut.status == "incomplete"
    assert cut.incomplete_details is not None
    assert cut.incomplete_details.reason == "max_output_tokens"
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.message == "gone"


@pytest.mark.requirement("I15.3.19")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"background": True}, "while the client waits"),
        ({"conversation": "c"}, "no conversations are kept"),
        ({"tools": [{"type": "web_search"}]}, "cannot be taken here"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "no response that is stored"),
        ({"input": [{"type": "mcp_call", "id": "x"}]}, "must hold a message"),
        ({"input": [{"type": "computer_call", "id": "x"}]}, "cannot be taken here"),
        ({"input": []}, "must hold a message"),
    ],
)
def test_what_cannot_be_done_is_refused_with_words(more: dict[str, Any], words: str) -> None:
    refused = pytest.raises(openai.BadRequestError, match=words)
    with gateway([{"text": "no"}]) as served, _client(served.url) as client, refused:
        client.responses.create(**{"model": "m/x", "input": "hi", **more})
    assert served.requests == []
