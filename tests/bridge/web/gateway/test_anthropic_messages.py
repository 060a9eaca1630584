"""Messages through the gateway, by Anthropic's own client over a real socket."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from tests.support.gateway import PNG, WEATHER, gateway
from tests.support.local_tools import Performed, turn
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Assistant, ToolResults, User

_ASK: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
_TOOL: Any = {"name": "weather", "description": "Tells it.", "input_schema": WEATHER}


def _client(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="key-a", max_retries=0)


@pytest.mark.requirement("I15.3.12")
def test_our_tools_are_run_the_clients_returned_and_its_result_goes_on_with_the_hidden_turns() -> None:
    ours = Performed("lookup")
    turns = [
        turn(("lookup", {"q": "1"}), text="I look.", usage={"input_tokens": 10, "output_tokens": 2}),
        turn(("weather", {"city": "Paris"}), text="Now you.", usage={"input_tokens": 20, "output_tokens": 3}),
        {"text": "It rains."},
    ]
    with gateway(turns, ours) as served, _client(served.url) as client:
        first = client.messages.create(model="m/x", max_tokens=99, messages=_ASK, tools=[_TOOL])
        assert [block.type for block in first.content] == ["text", "text", "tool_use"]
        assert first.stop_reason == "tool_use"
        assert (first.usage.input_tokens, first.usage.output_tokens) == (30, 5)
        call = first.content[2]
        assert call.type == "tool_use"
        assert (call.name, call.input) == ("weather", {"city": "Paris"})

        result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain", "is_error": False}
        history: list[Any] = [*_ASK, {"role": "assistant", "content": first.content}]
        history.append({"role": "user", "content": [result, {"type": "text", "text": "Well?"}]})
        second = client.messages.create(model="m/x", max_tokens=99, messages=history, tools=[_TOOL])
    assert [block.text for block in second.content if block.type == "text"] == ["It rains."]
    assert second.stop_reason == "end_turn"
    kinds = [type(message) for message in served.requests[2].messages]
    assert kinds == [User, Assistant, ToolResults, Assistant, ToolResults, User]
    assert ours.calls == [{"q": "1"}]


@pytest.mark.requirement("I15.3.13")
def test_a_stream_has_the_events_of_the_api_in_their_order_and_goes_on_after_it() -> None:
    turns = [
        turn(("lookup", {}), pieces=["I ", "look."], reasoning="They want it."),
        turn(("weather", {"city": "Paris"}), pieces=["Now."], usage={"input_tokens": 7, "output_tokens": 1}),
        {"text": "Done."},
    ]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        asked: dict[str, Any] = {"model": "m/x", "max_tokens": 99, "tools": [_TOOL]}
        thinking: Any = {"type": "adaptive"}
        with client.messages.stream(**asked, messages=_ASK, thinking=thinking) as stream:
            events = [event.type for event in stream]
            whole = stream.get_final_message()
        assert [block.type for block in whole.content] == ["thinking", "text", "text", "tool_use"]
        assert whole.stop_reason == "tool_use"
        assert (whole.usage.input_tokens, whole.usage.output_tokens) == (7, 1)
        call = whole.content[-1]
        assert call.type == "tool_use"
        assert call.input == {"city": "Paris"}
        result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "sun"}]}
        history: list[Any] = [*_ASK, {"role": "assistant", "content": whole.content}]
        second = client.messages.create(**asked, messages=[*history, {"role": "user", "content": [result]}])
    assert second.content[0].type == "text"
    raw = [event for event in events if event not in ("text", "thinking", "signature", "input_json")]
    assert raw[0] == "message_start"
    assert raw[-2:] == ["message_delta", "message_stop"]
    starts = raw.count("content_block_start")
    assert starts == raw.count("content_block_stop") == 4
    assert len(served.requests[2].messages) == 5


@pytest.mark.anyio
@pytest.mark.requirement("I15.3.13")
async def test_the_asynchronous_client_gets_the_same() -> None:
    with gateway([{"pieces": ["a", "b"]}, {"text": "c"}]) as served:
        async with anthropic.AsyncAnthropic(base_url=served.url, api_key="k") as client:
            async with client.messages.stream(model="m/x", max_tokens=9, messages=_ASK) as stream:
                pieces = [text async for text in stream.text_stream]
            answer = await client.messages.create(model="m/x", max_tokens=9, messages=_ASK)
    assert pieces == ["a", "b"]
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "c"


@pytest.mark.requirement("I15.3.14")
def test_system_images_choice_thinking_and_structured_output_reach_the_model() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    content = [{"type": "text", "text": "What?"}, {"type": "image", "source": source}]
    config: Any = {"format": {"type": "json_schema", "schema": {"type": "object"}}, "effort": "low"}
    with gateway([{"text": "{}"}]) as served, _client(served.url) as client:
        client.messages.create(
            model="m/x",
            max_tokens=50,
            system=[{"type": "text", "text": "Be brief."}],
            messages=[{"role": "user", "content": content}],  # type: ignore[typeddict-item]  # plain JSON
            tools=[_TOOL],
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
            output_config=config,
        )
    (request,) = served.requests
    assert request.system.startswith("Be brief.")
    assert (request.max_tokens, request.parallel, request.reasoning) == (50, False, "low")
    assert request.answer_schema == {"type": "object"}
    assert request.messages[-1].parts[0].data["data"] == PNG


@pytest.mark.requirement("I15.3.14")
def test_a_stop_sequence_is_named() -> None:
    with gateway([{"text": "one STOP two"}]) as served, _client(served.url) as client:
        answer = client.messages.create(model="m/x", max_tokens=9, messages=_ASK, stop_sequences=["STOP"])
    assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "STOP")
    assert [block.text for block in answer.content if block.type == "text"] == ["one "]


@pytest.mark.requirement("I15.3.15")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "raised", "kind"),
    [
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (529, anthropic.APIStatusError, "overloaded_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (400, anthropic.BadRequestError, "invalid_request_error"),
    ],
)
def test_errors_are_the_exceptions_that_the_client_knows(
    status: int, raised: type[anthropic.APIStatusError], kind: str, stream: bool
) -> None:
    error = ProviderError("no luck", status=status)
    with gateway([error]) as served, _client(served.url) as client, pytest.raises(raised) as caught:
        client.messages.create(model="m/x", max_tokens=9, messages=_ASK, stream=stream)
    body: Any = caught.value.body
    assert body["error"]["type"] == kind
    assert "no luck" in body["error"]["message"]


@pytest.mark.requirement("I15.3.15")
def test_an_error_in_the_middle_of_a_stream_is_raised_too() -> None:
    turns = [turn(("lookup", {}), pieces=["I look."]), ProviderError("gone", status=500)]
    with (
        gateway(turns, Performed("lookup")) as served,
        _client(served.url) as client,
        client.messages.stream(model="m/x", max_tokens=9, messages=_ASK) as stream,
        pytest.raises(anthropic.APIStatusError, match="gone"),
    ):
        stream.get_final_message()


@pytest.mark.requirement("I15.3.15")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"messages": [{"role": "assistant", "content": "I"}]}, "must end with"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "cannot be taken here"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}
                ]
            },
            "nothing is fetched",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_words(more: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"model": "m/x", "max_tokens": 9, "messages": _ASK, **more}
    refused = pytest.raises(anthropic.BadRequestError, match=words)
    with gateway([{"text": "no"}]) as served, _client(served.url) as client, refused:
        client.messages.create(**given)
    assert served.requests == []


@pytest.mark.requirement("I15.3.16")
def test_tokens_are_counted_or_estimated_and_models_listed_in_the_clients_shape() -> None:
    with gateway([]) as served, _client(served.url) as client:
        counted = client.messages.with_raw_response.count_tokens(model="m/x", messages=_ASK, tools=[_TOOL])
        models = [model.id for model in client.models.list()]
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("nobody/nothing")
    assert counted.parse().input_tokens > 20
    assert "estimated" in counted.headers["x-toolspan-warning"]
    assert models == ["scripted/recorded", "best"]
