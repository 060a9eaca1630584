"""What the SDKs do beyond a request: parsed answers, whole streams, runners of tools, pages, retries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel

from tests.support.gateway import gateway
from tests.support.local_tools import Performed, turn
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Assistant, ToolResults, User

pytestmark = pytest.mark.long

_ASK: list[Any] = [{"role": "user", "content": "Weather?"}]


class Weather(BaseModel):
    """The parameters of the client's tool."""

    city: str


class Place(BaseModel):
    """An answer with a shape."""

    city: str
    rain: bool


def _openai(url: str, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", **{"api_key": "k", "max_retries": 0, **more})


def _anthropic(url: str, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="k", **{"max_retries": 0, **more})


@pytest.mark.requirement("I15.3.122")
def test_openais_parse_gives_the_arguments_of_a_call_and_its_stream_helper_every_event() -> None:
    tools: Any = [openai.pydantic_function_tool(Weather, name="weather")]
    called = turn(("lookup", {}), text="I look."), turn(("weather", {"city": "Paris"}), pieces=["No", "w."])
    with gateway([*called, *called], Performed("lookup")) as served, _openai(served.url) as client:
        parsed = client.chat.completions.parse(model="m/x", messages=_ASK, tools=tools)
        with client.chat.completions.stream(model="m/x", messages=_ASK, tools=tools) as stream:
            kinds = {event.type for event in stream}
            whole = stream.get_final_completion()
    for completion in (parsed, whole):
        assert completion.choices[0].message.content == "I look.\n\nNow."
        (call,) = completion.choices[0].message.tool_calls or []
        assert call.function.parsed_arguments == Weather(city="Paris")
    assert {"content.delta", "content.done", "tool_calls.function.arguments.done"} <= kinds


@pytest.mark.requirement("I15.3.122")
def test_openais_parse_gives_a_refusal_where_no_answer_fits_the_schema_and_a_cut_one_raises() -> None:
    unfit: list[Any] = [{"text": "I am no poet."}] * 2
    cut: list[Any] = [{"text": '{"city"', "stop": "length"}]
    with gateway([*unfit, *unfit, *unfit, *unfit, *cut]) as served, _openai(served.url) as client:
        said = client.chat.completions.parse(model="m/x", messages=_ASK, response_format=Place)
        with client.chat.completions.stream(model="m/x", messages=_ASK, response_format=Place) as stream:
            streamed = stream.get_final_completion()
        response = client.responses.parse(model="m/x", input="Place?", text_format=Place)
        with client.responses.stream(model="m/x", input="Place?", text_format=Place) as events:
            response_streamed = events.get_final_response()
        with pytest.raises(openai.LengthFinishReasonError):
            client.chat.completions.parse(model="m/x", messages=_ASK, response_format=Place)
    for completion in (said, streamed):
        message = completion.choices[0].message
        assert (message.refusal, message.parsed, message.content or None) == ("I am no poet.", None, None)
        assert completion.choices[0].finish_reason == "stop"
    for each in (response, response_streamed):
        assert each.output_parsed is None
        (item,) = each.output
        assert item.type == "message"
        assert [part.type for part in item.content] == ["refusal"]
        assert each.status == "completed"


@pytest.mark.requirement("I15.3.122")
def test_what_was_said_in_place_of_structured_output_is_known_when_it_comes_back() -> None:
    with gateway([*[{"text": "I am no poet."}] * 2, {"text": "ok"}]) as served, _openai(served.url) as client:
        said = client.chat.completions.parse(model="m/x", messages=_ASK, response_format=Place)
        history: list[Any] = [*_ASK, said.choices[0].message.model_dump(), {"role": "user", "content": "So?"}]
        client.chat.completions.create(model="m/x", messages=history)
    kinds = [type(message) for message in served.requests[2].messages]
    assert kinds == [User, Assistant, User, Assistant, User]


@pytest.mark.requirement("I15.3.122")
def test_the_stream_helper_of_responses_gives_parsed_arguments_and_a_parsed_answer() -> None:
    tools: Any = [openai.pydantic_function_tool(Weather, name="weather")["function"] | {"type": "function"}]
    turns = [turn(("weather", {"city": "Paris"})), {"text": '{"city": "Paris", "rain": true}'}]
    with gateway(turns) as served, _openai(served.url) as client:
        with client.responses.stream(model="m/x", input="Weather?", tools=tools) as stream:
            first = stream.get_final_response()
        (call,) = first.output
        assert call.type == "function_call"
        result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
        with client.responses.stream(
            model="m/x", input=result, previous_response_id=first.id, text_format=Place
        ) as stream:
            second = stream.get_final_response()
    assert json.loads(call.arguments) == {"city": "Paris"}
    assert second.output_parsed == Place(city="Paris", rain=True)


@anthropic.beta_tool
def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: The city.
    """
    return f"rain in {city}"


@pytest.mark.requirement("I15.3.122")
@pytest.mark.parametrize("stream", [False, True])
def test_anthropics_runner_of_tools_makes_the_clients_calls_and_the_gateway_its_own(stream: bool) -> None:
    ours = Performed("lookup")
    turns = [
        turn(("lookup", {"n": 1}), ("weather", {"city": "Paris"}), text="Both."),
        turn(("weather", {"city": "Rome"})),
        {"text": "It rains everywhere."},
    ]
    with gateway(turns, ours) as served, _anthropic(served.url) as client:
        runner: Iterable[Any] = client.beta.messages.tool_runner(
            model="m/x", max_tokens=99, messages=_ASK, tools=[weather], stream=stream
        )
        said = [each.get_final_message() if stream else each for each in runner]
    assert [message.stop_reason for message in said] == ["tool_use", "tool_use", "end_turn"]
    assert said[-1].content[0].text == "It rains everywhere."
    assert ours.calls == [{"n": 1}]
    results = [each for each in served.requests[2].messages if isinstance(each, ToolResults)]
    assert [outcome.result["result"] for each in results for outcome in each.outcomes][1:] == [
        "rain in Paris",
        "rain in Rome",
    ]


@pytest.mark.requirement("I15.3.123")
def test_a_thread_goes_on_with_its_system_prompt_and_tools_and_a_lost_one_is_sent_whole() -> None:
    turns = [turn(("lookup", {}), text="I look."), {"text": "One."}, {"text": "Two."}, {"text": "Three."}]
    with gateway(turns, Performed("lookup")) as served, _anthropic(served.url) as client:
        thread = client.beta.messages.thread(model="m/x", max_tokens=9, system="Be brief.", tools=[weather])
        thread.send({"role": "user", "content": "First?"})
        thread.send({"role": "user", "content": "Second?"})
        served.runs.forget("k", str(thread.previous_message_id))
        thread.send({"role": "user", "content": "Third?"})
        assert len(thread.messages) == 6
        with pytest.raises(anthropic.NotFoundError, match="is of no thread"):
            client.beta.messages.create(
                model="m/x",
                max_tokens=9,
                messages=_ASK,
                thread={"type": "continue", "previous_message_id": "msg_x"},
            )
    for request in served.requests:
        assert request.system == "Be brief."
        assert {tool.name for tool in request.tools} == {"lookup", "weather"}
    assert [len(request.messages) for request in served.requests] == [1, 3, 5, 7]


@pytest.mark.requirement("I15.3.122")
def test_anthropics_parse_gives_the_answer_and_an_unfit_one_is_a_refusal() -> None:
    fits: list[Any] = [{"text": '{"city": "Paris", "rain": true}'}]
    unfit: list[Any] = [{"text": "I am no poet."}] * 2
    with gateway([*fits, *unfit]) as served, _anthropic(served.url) as client:
        parsed = client.messages.parse(model="m/x", max_tokens=99, messages=_ASK, output_format=Place)
        schema: Any = {"format": {"type": "json_schema", "schema": Place.model_json_schema()}}
        refused = client.messages.create(model="m/x", max_tokens=99, messages=_ASK, output_config=schema)
    assert parsed.parsed_output == Place(city="Paris", rain=True)
    assert refused.stop_reason == "refusal"


@pytest.mark.requirement("I15.3.122")
def test_models_come_in_pages_from_both_ends_to_anthropics_client() -> None:
    with gateway([]) as served, _anthropic(served.url) as client:
        page = client.models.list(limit=1)
        assert ([model.id for model in page.data], page.has_more) == (["scripted/recorded"], True)
        assert [model.id for model in page] == ["scripted/recorded", "best"]
        last = client.models.list(before_id="best", limit=5)
        assert ([model.id for model in last.data], last.has_more) == (["scripted/recorded"], False)
        with pytest.raises(anthropic.BadRequestError, match="there is no 'gone'"):
            client.models.list(after_id="gone")
        with pytest.raises(anthropic.BadRequestError, match="limit must be"):
            client.models.list(limit=0)


@pytest.mark.requirement("I15.3.122")
@pytest.mark.parametrize("status", [429, 503])
def test_clients_try_again_as_they_do_with_the_provider(status: int) -> None:
    busy = ProviderError("too busy", status=status)
    with gateway([busy, busy, {"text": "Now."}]) as served, _openai(served.url, max_retries=2) as client:
        raw = client.chat.completions.with_raw_response.create(model="m/x", messages=_ASK)
    assert raw.retries_taken == 2
    assert raw.parse().choices[0].message.content == "Now."
    with gateway([busy, {"text": "Now."}]) as served, _anthropic(served.url, max_retries=1) as client:
        answer = client.messages.create(model="m/x", max_tokens=9, messages=_ASK)
    assert [block.text for block in answer.content if block.type == "text"] == ["Now."]


@pytest.mark.requirement("I15.3.122")
def test_when_to_come_again_is_what_the_provider_says() -> None:
    busy = ProviderError("too busy", status=429, retry_after=6.5)
    with (
        gateway([busy]) as served,
        _openai(served.url) as client,
        pytest.raises(openai.RateLimitError) as told,
    ):
        client.chat.completions.create(model="m/x", messages=_ASK)
    assert told.value.response.headers["retry-after"] == "7"


@pytest.mark.requirement("I15.3.122")
def test_a_client_whose_time_is_up_raises_its_own_exception() -> None:
    slow: Any = {"text": "Late.", "silent": True}
    with gateway([slow, slow]) as served:
        with _openai(served.url, timeout=0.5) as client, pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(model="m/x", messages=_ASK)
        with _anthropic(served.url, timeout=0.5) as claude, pytest.raises(anthropic.APITimeoutError):
            claude.messages.create(model="m/x", max_tokens=9, messages=_ASK)


@pytest.mark.requirement("I15.3.123")
def test_a_stored_response_is_got_again_and_forgotten_and_is_no_other_principals() -> None:
    with gateway([{"text": "One."}]) as served, _openai(served.url) as client:
        first = client.responses.create(model="m/x", input="hi")
        assert client.responses.retrieve(first.id).model_dump() == first.model_dump()
        with _openai(served.url, api_key="other") as other, pytest.raises(openai.NotFoundError):
            other.responses.retrieve(first.id)
        client.responses.delete(first.id)
        with pytest.raises(openai.NotFoundError, match="was not stored"):
            client.responses.retrieve(first.id)


@pytest.mark.requirement("I15.3.123")
def test_items_of_a_stored_response_may_be_referred_to_by_their_ids() -> None:
    tool: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
    turns = [
        turn(("lookup", {}), text="I look."),
        turn(("weather", {"city": "Paris"}), text="Now you."),
        {"text": "It rains."},
    ]
    with gateway(turns, Performed("lookup")) as served, _openai(served.url) as client:
        first = client.responses.create(model="m/x", input="Weather?", tools=[tool])
        references: list[Any] = [{"type": "item_reference", "id": item.id} for item in first.output]
        call = first.output[-1]
        assert call.type == "function_call"
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
        items: Any = [{"role": "user", "content": "Weather?"}, *references, result]
        assert client.responses.create(model="m/x", input=items, tools=[tool]).output_text == "It rains."
    kinds = [type(message) for message in served.requests[2].messages]
    assert kinds == [User, Assistant, ToolResults, Assistant, ToolResults]


@pytest.mark.requirement("I15.3.124")
def test_custom_tools_get_their_text_and_give_their_results_over_both_apis() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: SELECT"}
    called = turn(("sql", {"input": "select 'é'"}))
    with gateway([called, {"text": "1"}, called, {"text": "1"}]) as served, _openai(served.url) as client:
        tool: Any = {
            "type": "custom",
            "custom": {"name": "sql", "format": {"type": "grammar", "grammar": grammar}},
        }
        choice: Any = {"type": "custom", "custom": {"name": "sql"}}
        first = client.chat.completions.create(model="m/x", messages=_ASK, tools=[tool], tool_choice=choice)
        said = first.choices[0].message
        (call,) = said.tool_calls or []
        assert call.type == "custom"
        assert call.custom.input == "select 'é'"
        history: list[Any] = [*_ASK, said, {"role": "tool", "tool_call_id": call.id, "content": "1"}]
        client.chat.completions.create(model="m/x", messages=history, tools=[tool])

        flat: Any = {"type": "custom", "name": "sql", "description": "Runs SQL.", "format": grammar}
        response = client.responses.create(model="m/x", input="Weather?", tools=[flat])
        (item,) = response.output
        assert item.type == "custom_tool_call"
        assert item.input == "select 'é'"
        output: Any = {"type": "custom_tool_call_output", "call_id": item.call_id, "output": "1"}
        whole: Any = [{"role": "user", "content": "Weather?"}, item, output]
        client.responses.create(model="m/x", input=whole, tools=[flat])
    assert served.requests[0].tool_choice == ("", "sql")
    assert "start: SELECT" in served.requests[0].tools[0].description
    assert "start: SELECT" in served.requests[2].tools[0].description
    for request in (served.requests[1], served.requests[3]):
        assert [outcome.result["result"] for outcome in request.messages[-1].outcomes] == ["1"]


@pytest.mark.requirement("I15.3.124")
def test_allowed_tools_are_the_only_ones_of_the_clients_that_are_offered() -> None:
    functions = [{"name": name, "parameters": {"type": "object"}} for name in ("one", "two")]
    nested: list[Any] = [{"type": "function", "function": each} for each in functions]
    flat: list[Any] = [{"type": "function", "strict": False, **each} for each in functions]
    turns = [turn(("two", {})), turn(("two", {}))]
    with gateway(turns, Performed("lookup")) as served, _openai(served.url) as client:
        allowed: Any = {"mode": "required", "tools": [{"type": "function", "function": {"name": "two"}}]}
        choice: Any = {"type": "allowed_tools", "allowed_tools": allowed}
        client.chat.completions.create(model="m/x", messages=_ASK, tools=nested, tool_choice=choice)
        choice = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "two"}]}
        client.responses.create(model="m/x", input="hi", tools=flat, tool_choice=choice)
    assert [{tool.name for tool in each.tools} for each in served.requests] == [{"lookup", "two"}] * 2
    assert [each.tool_choice for each in served.requests] == ["required", "auto"]


@pytest.mark.requirement("I15.3.125")
def test_calls_without_a_result_are_refused_as_the_apis_do() -> None:
    calls = [{"id": each, "type": "function", "function": {"name": "f", "arguments": "{}"}} for each in "ab"]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    messages: list[Any] = [*_ASK, said, {"role": "tool", "tool_call_id": "a", "content": "1"}]
    items: Any = [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"role": "user", "content": "well?"},
    ]
    used: Any = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    with gateway([]) as served, _openai(served.url) as client, _anthropic(served.url) as claude:
        with pytest.raises(openai.BadRequestError, match="the call 'b' of 'f' has no result"):
            client.chat.completions.create(model="m/x", messages=messages)
        with pytest.raises(openai.BadRequestError, match="the call 'a' of 'f' has no result"):
            client.responses.create(model="m/x", input=items)
        with pytest.raises(anthropic.BadRequestError, match="the call 'a' of 'f' has no result"):
            claude.messages.create(model="m/x", max_tokens=9, messages=[*_ASK, used, *_ASK])
    assert served.requests == []


@pytest.mark.requirement("I15.3.125")
def test_settings_of_messages_that_are_read_or_refused() -> None:
    found: Any = {
        "type": "search_result",
        "source": "https://x.example",
        "title": "Rain",
        "content": [{"type": "text", "text": "It rains."}],
    }
    asked: Any = [{"role": "user", "content": [found, {"type": "text", "text": "Well?"}]}]
    source = {"type": "content", "content": [{"type": "text", "text": "Often."}]}
    asked[0]["content"].append({"type": "document", "source": source})
    hidden: Any = {"type": "adaptive", "display": "omitted"}
    thought: Any = {"text": "Yes.", "reasoning": "Hm."}
    with gateway([thought]) as served, _anthropic(served.url) as client:
        answer = client.messages.create(model="m/x", max_tokens=9, messages=asked, thinking=hidden)
        unknown: Any = {"type": "deep"}
        with pytest.raises(anthropic.BadRequestError, match=r"thinking\.type must be one of"):
            client.messages.create(model="m/x", max_tokens=9, messages=_ASK, thinking=unknown)
        with pytest.raises(anthropic.BadRequestError, match="add the servers to the config"):
            server: Any = {"type": "url", "name": "s", "url": "https://x.example"}
            client.beta.messages.create(model="m/x", max_tokens=9, messages=_ASK, mcp_servers=[server])
    assert [block.type for block in answer.content] == ["text"]
    assert served.requests[0].messages[0].text == "Rain (https://x.example)\n\nIt rains.\n\nWell?\n\nOften."


@pytest.mark.requirement("I15.3.125")
def test_a_request_of_instructions_alone_asks_them_as_openais_api_does() -> None:
    instructions: Any = [{"role": "system", "content": "Say hello."}]
    with gateway([{"text": "Hello."}]) as served, _openai(served.url) as client:
        client.chat.completions.create(model="m/x", messages=instructions)
    assert (served.requests[0].system, served.requests[0].messages) == ("", (User("Say hello."),))


@pytest.mark.requirement("I15.3.125")
def test_malformed_arguments_are_openais_client_to_read_and_for_anthropics_the_models_to_correct() -> None:
    wrong: Any = {"calls": [{"tool": "weather", "arguments": "{oops"}]}
    right = turn(("weather", {"city": "Paris"}))
    tool: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    with gateway([wrong, {"text": "ok"}, wrong, right]) as served:
        with _openai(served.url) as client:
            said = client.chat.completions.create(model="m/x", messages=_ASK, tools=[tool]).choices[0]
            (call,) = said.message.tool_calls or []
            assert call.type == "function"
            assert (said.finish_reason, call.function.arguments) == ("tool_calls", "{oops")
            told = {"role": "tool", "tool_call_id": call.id, "content": "no JSON"}
            history: list[Any] = [*_ASK, said.message, told]
            client.chat.completions.create(model="m/x", messages=history, tools=[tool])
        with _anthropic(served.url) as claude:
            own: Any = {"name": "weather", "input_schema": {"type": "object"}}
            answer = claude.messages.create(model="m/x", max_tokens=9, messages=_ASK, tools=[own])
    assert [block.input for block in answer.content if block.type == "tool_use"] == [{"city": "Paris"}]
