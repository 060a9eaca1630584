"""Chat Completions through the gateway, by OpenAI's own client over a real socket."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.support.gateway import PNG, WEATHER, gateway
from tests.support.local_tools import Performed, turn
from toolspan_bridge.errors import AuthError, ContextOverflowError, ProviderError, UnreachableError
from toolspan_bridge.messages import Assistant, Reply, ToolCall, ToolResults, User

_ASK: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
_TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "description": "Tells it.", "parameters": WEATHER},
}


def _client(url: str, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="key-a", max_retries=0, **more)


@pytest.mark.requirement("I15.3.2")
def test_our_tools_are_run_here_and_the_client_gets_the_answer_with_the_usage_of_all_turns() -> None:
    ours = Performed("lookup")
    turns = [
        turn(("lookup", {"q": "paris"}), text="I look.", usage={"input_tokens": 10, "output_tokens": 2}),
        {"text": "It rains.", "usage": {"input_tokens": 20, "output_tokens": 3}},
    ]
    with gateway(turns, ours) as served, _client(served.url) as client:
        answer = client.chat.completions.create(model="scripted/recorded", messages=_ASK)
    assert ours.calls == [{"q": "paris"}]
    choice = answer.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("I look.\n\nIt rains.", "stop")
    assert choice.message.tool_calls is None
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (30, 5)
    assert answer.model == "scripted/recorded"


@pytest.mark.requirement("I15.3.3")
def test_the_clients_own_tool_is_returned_to_it_and_its_result_goes_to_the_model_with_our_hidden_turns() -> (
    None
):
    ours = Performed("lookup")
    turns = [
        turn(("lookup", {"q": "1"})),
        turn(("weather", {"city": "Paris"}), ("lookup", {"q": "2"}), text="Both."),
        {"text": "It rains in Paris."},
        {"text": "Still."},
    ]
    with gateway(turns, ours) as served, _client(served.url) as client:
        first = client.chat.completions.create(model="m/x", messages=_ASK, tools=[_TOOL])
        said = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert said.tool_calls is not None
        (call,) = said.tool_calls
        assert call.type == "function"
        assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Paris"})
        assert ours.calls == [{"q": "1"}, {"q": "2"}]

        history = [*_ASK, said, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
        second = client.chat.completions.create(model="m/x", messages=history, tools=[_TOOL])
        assert second.choices[0].message.content == "It rains in Paris."
        history += [second.choices[0].message, {"role": "user", "content": "And now?"}]
        client.chat.completions.create(model="m/x", messages=history, tools=[_TOOL])

    seen = served.requests[2].messages
    assert [type(message) for message in seen] == [User, Assistant, ToolResults, Assistant, ToolResults]
    assert sorted(outcome.name for outcome in seen[4].outcomes) == ["lookup", "weather"]
    called = {call.id for call in seen[3].calls}
    assert {outcome.call_id for outcome in seen[4].outcomes} == called
    again = served.requests[3].messages
    assert again[:5] == seen
    assert [type(message) for message in again[5:]] == [Assistant, User]
    assert len({request.conversation for request in served.requests}) == 1


@pytest.mark.requirement("I15.3.4")
def test_what_a_provider_must_get_back_comes_back_when_the_client_sends_only_its_text() -> None:
    thought = {"type": "thinking", "signature": "s1"}
    turns = [Reply(Assistant("Hello.", opaque=[thought], opaque_format="anthropic")), {"text": "Bye."}]
    with gateway(turns) as served, _client(served.url) as client:
        first = client.chat.completions.create(model="m/x", messages=_ASK)
        history = [*_ASK, first.choices[0].message, {"role": "user", "content": "And?"}]
        client.chat.completions.create(model="m/x", messages=history)
    assert served.requests[1].messages[1].opaque == [thought]


@pytest.mark.requirement("I15.3.5")
def test_the_history_of_another_principal_or_of_before_a_restart_works_in_plain_form() -> None:
    turns = [turn(("lookup", {}), ("weather", {"city": "x"})), {"text": "ok"}, {"text": "ok"}]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        first = client.chat.completions.create(model="m/x", messages=_ASK, tools=[_TOOL])
        said = first.choices[0].message
        assert said.tool_calls
        result = {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": "rain"}
        history: list[Any] = [*_ASK, said, result]
        other = client.with_options(api_key="key-b")
        assert other.chat.completions.create(model="m/x", messages=history, tools=[_TOOL]).choices
    message = served.requests[1].messages[1]
    assert [call.name for call in message.calls] == ["weather"]
    with gateway([{"text": "on"}]) as anew, _client(anew.url) as client:
        answer = client.chat.completions.create(model="m/x", messages=history, tools=[_TOOL])
    assert answer.choices[0].message.content == "on"
    (outcome,) = anew.requests[0].messages[2].outcomes
    assert outcome.result["result"] == "rain"


@pytest.mark.requirement("I15.3.6")
def test_a_stream_has_the_role_the_text_the_calls_the_finish_the_usage_and_the_end() -> None:
    turns = [
        turn(("lookup", {}), pieces=["I ", "look."]),
        turn(
            ("weather", {"city": "Paris"}),
            pieces=["Now ", "you."],
            usage={"input_tokens": 7, "output_tokens": 1},
        ),
    ]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        stream = client.chat.completions.create(
            model="m/x", messages=_ASK, tools=[_TOOL], stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "I look.\n\nNow you."
    calls = [each for chunk in chunks if chunk.choices for each in chunk.choices[0].delta.tool_calls or []]
    assert calls[0].id
    assert calls[0].function is not None
    assert calls[0].function.name == "weather"
    assert json.loads("".join(each.function.arguments or "" for each in calls if each.function)) == {
        "city": "Paris"
    }
    finishes = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert finishes[-1] == "tool_calls"
    assert set(finishes[:-1]) == {None}
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 7
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.requirement("I15.3.6")
def test_a_conversation_goes_on_from_a_streamed_turn_to_a_whole_one_and_back() -> None:
    turns = [turn(("lookup", {"q": 1})), {"text": "One."}, {"text": "Two."}, {"text": "Three."}]
    history = list(_ASK)
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        with client.chat.completions.stream(model="m/x", messages=history) as stream:
            first = stream.get_final_completion().choices[0].message.content
        history += [{"role": "assistant", "content": first}, {"role": "user", "content": "Next"}]
        second = client.chat.completions.create(model="m/x", messages=history).choices[0].message.content
        history += [{"role": "assistant", "content": second}, {"role": "user", "content": "Next"}]
        with client.chat.completions.stream(model="m/x", messages=history) as stream:
            third = stream.get_final_completion().choices[0].message.content
    assert (first, second, third) == ("One.", "Two.", "Three.")
    kinds = [type(message).__name__ for message in served.requests[3].messages]
    assert kinds == ["User", "Assistant", "ToolResults", "Assistant", "User", "Assistant", "User"]


@pytest.mark.anyio
@pytest.mark.requirement("I15.3.6")
async def test_the_asynchronous_client_gets_the_same() -> None:
    with gateway([{"pieces": ["a", "b"]}, {"text": "c"}]) as served:
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="k") as client:
            stream = await client.chat.completions.create(model="m/x", messages=_ASK, stream=True)
            pieces = [chunk.choices[0].delta.content async for chunk in stream]
            answer = await client.chat.completions.create(model="m/x", messages=_ASK)
    assert "".join(filter(None, pieces)) == "ab"
    assert answer.choices[0].message.content == "c"


class Place(BaseModel):
    city: str
    rain: bool


@pytest.mark.requirement("I15.3.7")
def test_structured_output_is_parsed_by_the_client_and_asked_for_again_where_it_does_not_fit() -> None:
    turns = [
        turn(("lookup", {}), text="I look first."),
        {"text": '{"city": 5}'},
        {"text": '{"city": "Paris", "rain": true}'},
    ]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        answer = client.chat.completions.parse(model="m/x", messages=_ASK, response_format=Place)
    assert answer.choices[0].message.parsed == Place(city="Paris", rain=True)


@pytest.mark.requirement("I15.3.7")
def test_settings_images_and_the_choice_of_a_tool_reach_the_model() -> None:
    content: Any = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": content},
    ]
    with gateway([turn(("weather", {"city": "x"}))]) as served, _client(served.url) as client:
        client.chat.completions.create(
            model="m/x",
            messages=messages,
            tools=[_TOOL],
            tool_choice={"type": "function", "function": {"name": "weather"}},
            parallel_tool_calls=False,
            max_completion_tokens=77,
            temperature=0.5,
            reasoning_effort="low",
        )
    (request,) = served.requests
    assert (request.system, request.max_tokens, request.temperature) == ("Be brief.", 77, 0.5)
    assert (request.tool_choice, request.parallel, request.reasoning) == (("", "weather"), False, "low")
    question = request.messages[-1]
    assert (question.text, question.parts[0].type, question.parts[0].data["data"]) == (
        "What is this?",
        "image",
        PNG,
    )


@pytest.mark.requirement("I15.3.8")
def test_a_stop_text_ends_the_answer_and_no_call_after_it_is_made() -> None:
    ours = Performed("lookup")
    turns = [turn(("lookup", {}), pieces=["one EN", "D two"])]
    with gateway([*turns, *turns], ours) as served, _client(served.url) as client:
        whole = client.chat.completions.create(model="m/x", messages=_ASK, stop=["END"])
        stream = client.chat.completions.create(model="m/x", messages=_ASK, stop="END", stream=True)
        pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == ("one ", "stop")
    assert "".join(pieces) == "one "
    assert ours.calls == []


@pytest.mark.requirement("I15.3.9")
@pytest.mark.parametrize(
    ("error", "raised", "status"),
    [
        (ProviderError("slow down", status=429), openai.RateLimitError, 429),
        (ProviderError("overloaded", status=503), openai.InternalServerError, 503),
        (ProviderError("bad parameter", status=422), openai.BadRequestError, 400),
        (ContextOverflowError("too long"), openai.BadRequestError, 400),
        (UnreachableError("nothing answers"), openai.InternalServerError, 502),
        (AuthError("no key"), openai.InternalServerError, 502),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_of_the_provider_are_the_exceptions_that_the_client_knows(
    error: Any, raised: type[openai.APIStatusError], status: int, stream: bool
) -> None:
    with gateway([error]) as served, _client(served.url) as client, pytest.raises(raised) as caught:
        client.chat.completions.create(model="m/x", messages=_ASK, stream=stream)
    assert caught.value.status_code == status
    assert error.message in caught.value.message


@pytest.mark.requirement("I15.3.9")
def test_an_error_in_the_middle_of_a_stream_is_an_error_of_the_client() -> None:
    turns = [turn(("lookup", {}), pieces=["I look."]), ProviderError("gone", status=500)]
    with gateway(turns, Performed("lookup")) as served, _client(served.url) as client:
        stream = client.chat.completions.create(model="m/x", messages=_ASK, stream=True)
        with pytest.raises(openai.APIError, match="gone"):
            list(stream)


@pytest.mark.requirement("I15.3.10")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"n": 2}, "one answer"),
        ({"logprobs": True}, "log probabilities"),
        ({"temperature": 9}, "temperature must be"),
        ({"messages": []}, "must hold a message"),
        ({"messages": [{"role": "assistant", "content": "I"}]}, "must end with"),
        ({"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}, "no message before it"),
        ({"messages": [{"role": "robot", "content": "y"}]}, "role must be one of"),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, "cannot be taken here"),
        ({"tools": [_TOOL, _TOOL]}, "several tools named"),
        ({"tool_choice": {"type": "function", "function": {"name": "no"}}}, "no such tool"),
        ({"tool_choice": "required"}, "no tool to be called"),
        ({"response_format": {"type": "xml"}}, "schema is missing"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema is missing"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}
                ]
            },
            "nothing is fetched",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_words_and_no_model_is_asked(
    more: dict[str, Any], words: str
) -> None:
    given: dict[str, Any] = {"model": "m/x", "messages": _ASK, **more}
    refused = pytest.raises(openai.BadRequestError, match=words)
    with gateway([{"text": "no"}]) as served, _client(served.url) as client, refused as caught:
        client.chat.completions.create(**given)
    assert caught.value.type == "invalid_request_error"
    assert served.requests == []


@pytest.mark.requirement("I15.3.10")
def test_what_has_no_effect_is_said_in_a_header() -> None:
    with gateway([{"text": "yes"}]) as served, _client(served.url) as client:
        more: dict[str, Any] = {"prompt_cache_key": "k", "prediction": {"type": "content", "content": "x"}}
        raw = client.chat.completions.with_raw_response.create(model="m/x", messages=_ASK, **more)
    said = "'prediction' has no effect here | 'prompt_cache_key' has no effect here"
    assert raw.headers["x-toolspan-warning"] == said
    assert raw.headers["x-toolspan-model"] == "scripted/x"
    assert raw.parse().choices[0].message.content == "yes"


@pytest.mark.requirement("I15.3.11")
def test_a_tool_that_needs_approval_is_denied_and_the_model_is_told() -> None:
    ours = Performed("wipe", destructiveHint=True)
    with gateway([turn(("wipe", {})), {"text": "I may not."}], ours) as served, _client(served.url) as client:
        answer = client.chat.completions.create(model="m/x", messages=_ASK)
    assert answer.choices[0].message.content == "I may not."
    assert ours.calls == []
    assert "denied" in served.requests[1].messages[2].outcomes[0].result["error"]


@pytest.mark.requirement("I15.3.3")
def test_calls_that_a_model_numbers_alike_in_each_turn_are_told_apart() -> None:
    def calling(city: str) -> Reply:
        call = ToolCall("call_1", "weather", {"city": city}, json.dumps({"city": city}))
        return Reply(Assistant("", (call,)))

    with gateway([calling("a"), calling("b"), {"text": "done"}]) as served, _client(served.url) as client:
        history = list(_ASK)
        for weather in ("rain", "sun"):
            answer = client.chat.completions.create(model="m/x", messages=history, tools=[_TOOL])
            said = answer.choices[0].message
            assert said.tool_calls
            history += [said, {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": weather}]
        client.chat.completions.create(model="m/x", messages=history, tools=[_TOOL])
    results = [m for m in served.requests[2].messages if isinstance(m, ToolResults)]
    assert [each.outcomes[0].result["result"] for each in results] == ["rain", "sun"]
