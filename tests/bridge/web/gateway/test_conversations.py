"""Conversations of several turns over the gateway's own process, with tools of both sides, by the SDKs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.support.web_app import WebApp, web_app

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.130")]

_SCRIPT = """
answers:
  - to: dice and weather
    turns:
      - text: I do both.
        calls:
          - {tool: get_weather, arguments: {city: Paris}}
          - {tool: roll_dice, arguments: {sides: 6}}
      - calls: [{tool: roll_dice, arguments: {sides: 20}}]
      - text: It is warm, and you rolled.
  - turns:
      - calls: [{tool: get_weather, arguments: {city: Rome}}]
      - text: Still warm.
"""
_MODEL = "scripted/script.yaml"
_QUESTIONS = ("dice and weather", "And now?")
_SAID = ["I do both.", "", "It is warm, and you rolled.", "Still warm."]
_SCHEMA = {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]}
_FUNCTION = {"name": "roll_dice", "description": "Rolls a die.", "parameters": _SCHEMA}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebApp]:
    folder = tmp_path_factory.mktemp("gateway")
    (folder / "script.yaml").write_text(_SCRIPT)
    with web_app(folder) as running:
        yield running


def _rolled(arguments: Any) -> str:
    return f"rolled {arguments['sides'] - 2}"


class Chat:
    """Chat Completions, with the whole history each time."""

    def __init__(self, app: WebApp) -> None:
        self.url, self.history = f"{app.url}/v1", list[Any]()
        self.asked: dict[str, Any] = {"model": _MODEL, "tools": [{"type": "function", "function": _FUNCTION}]}

    async def ask(self, *, stream: bool) -> Any:
        async with openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
            if stream:
                async with client.chat.completions.stream(**self.asked, messages=self.history) as events:
                    return (await events.get_final_completion()).choices[0].message
            return (
                (await client.chat.completions.create(**self.asked, messages=self.history)).choices[0].message
            )

    async def talk(self, question: str, *, stream: bool) -> Iterator[str]:
        self.history.append({"role": "user", "content": question})
        said = list[str]()
        while True:
            message = await self.ask(stream=stream)
            said.append(message.content or "")
            calls = message.tool_calls or []
            self.history.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            for call in calls:
                result = _rolled(json.loads(call.function.arguments))
                self.history.append({"role": "tool", "tool_call_id": call.id, "content": result})
            if not calls:
                return iter(said)


class Responses:
    """Responses, each from the one before."""

    def __init__(self, app: WebApp) -> None:
        self.url, self.previous = f"{app.url}/v1", ""
        self.asked: dict[str, Any] = {"model": _MODEL, "tools": [{"type": "function", **_FUNCTION}]}

    async def ask(self, given: Any, *, stream: bool) -> Any:
        asked = {**self.asked, "input": given}
        asked |= {"previous_response_id": self.previous} if self.previous else {}
        async with openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
            if stream:
                async with client.responses.stream(**asked) as events:
                    return await events.get_final_response()
            return await client.responses.create(**asked)

    async def talk(self, question: str, *, stream: bool) -> Iterator[str]:
        given: Any = question
        said = list[str]()
        while True:
            response = await self.ask(given, stream=stream)
            self.previous = response.id
            said.append(response.output_text)
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return iter(said)
            given = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": _rolled(json.loads(call.arguments)),
                }
                for call in calls
            ]


class Messages:
    """Messages, with the whole history each time."""

    def __init__(self, app: WebApp) -> None:
        self.url, self.history = app.url, list[Any]()
        tool = {"name": "roll_dice", "description": "Rolls a die.", "input_schema": _SCHEMA}
        self.asked: dict[str, Any] = {"model": _MODEL, "max_tokens": 99, "tools": [tool]}

    async def ask(self, *, stream: bool) -> Any:
        async with anthropic.AsyncAnthropic(base_url=self.url, api_key="none", max_retries=0) as client:
            if stream:
                async with client.messages.stream(**self.asked, messages=self.history) as events:
                    return await events.get_final_message()
            return await client.messages.create(**self.asked, messages=self.history)

    async def talk(self, question: str, *, stream: bool) -> Iterator[str]:
        self.history.append({"role": "user", "content": question})
        said = list[str]()
        while True:
            message = await self.ask(stream=stream)
            said.append("".join(block.text for block in message.content if block.type == "text"))
            self.history.append({"role": "assistant", "content": message.content})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": _rolled(block.input)}
                for block in message.content
                if block.type == "tool_use"
            ]
            if not results:
                return iter(said)
            self.history.append({"role": "user", "content": results})


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("way", [Chat, Responses, Messages])
async def test_a_conversation_of_several_turns_has_our_results_and_the_clients(
    app: WebApp, way: type[Chat] | type[Responses] | type[Messages], stream: bool
) -> None:
    client = way(app)
    said = [text for question in _QUESTIONS for text in await client.talk(question, stream=stream)]
    assert said == _SAID


def test_tokens_are_counted_and_models_listed_of_the_config_that_is_served(app: WebApp) -> None:
    question: Any = [{"role": "user", "content": "hi"}]
    with anthropic.Anthropic(base_url=app.url, api_key="none") as client:
        counted = client.beta.messages.count_tokens(model=_MODEL, messages=question)
        bare = client.messages.count_tokens(model=f"{_MODEL}:notools", messages=question)
        first = client.models.list(limit=1)
        listed = [model.id for model in first]
    assert counted.input_tokens > bare.input_tokens > 0
    assert first.has_more
    assert listed[:2] == ["best", "auto"]


def test_what_is_nowhere_under_v1_is_an_error_of_the_clients(app: WebApp) -> None:
    with openai.OpenAI(base_url=f"{app.url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError, match="nothing is at") as caught:
            client.embeddings.create(model="x", input="y")
        with pytest.raises(openai.NotFoundError):
            client.files.list()
    assert caught.value.type == "invalid_request_error"
    nowhere = anthropic.Anthropic(base_url=f"{app.url}/v1", api_key="none", max_retries=0)
    with nowhere as claude, pytest.raises(anthropic.NotFoundError):
        claude.messages.create(model="x", max_tokens=1, messages=[])
