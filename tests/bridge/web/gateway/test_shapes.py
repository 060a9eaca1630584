"""Every answer and every event of the gateway is what the SDKs' own types say, strictly read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic.types
import httpx2
import openai.types.chat
import openai.types.responses
import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from pydantic import BaseModel, TypeAdapter

from tests.support.gateway import WEATHER, gateway
from tests.support.local_tools import Performed, turn
from tests.support.waiting import BOUND_S
from toolspan_bridge.errors import ProviderError

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.121")]

_FUNCTION = {"name": "weather", "description": "Tells it.", "parameters": WEATHER}
_ASK = [{"role": "user", "content": "Weather?"}]
_FORM = {"name": "place", "schema": WEATHER, "strict": True}
_CHAT: dict[str, Any] = {
    "model": "m/x",
    "messages": _ASK,
    "tools": [{"type": "function", "function": _FUNCTION}, {"type": "custom", "custom": {"name": "sql"}}],
    "reasoning_effort": "low",
    "stream_options": {"include_usage": True},
}
_RESPONSES: dict[str, Any] = {
    "model": "m/x",
    "input": "Weather?",
    "tools": [{"type": "function", **_FUNCTION, "strict": True}, {"type": "custom", "name": "sql"}],
    "reasoning": {"summary": "auto"},
}
_MESSAGES: dict[str, Any] = {
    "model": "m/x",
    "max_tokens": 99,
    "messages": _ASK,
    "tools": [{"name": "weather", "input_schema": WEATHER}],
    "thinking": {"type": "adaptive"},
}
_APIS: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "chat": (
        "/v1/chat/completions",
        _CHAT,
        openai.types.chat.ChatCompletion,
        openai.types.chat.ChatCompletionChunk,
    ),
    "responses": (
        "/v1/responses",
        _RESPONSES,
        openai.types.responses.Response,
        openai.types.responses.ResponseStreamEvent,
    ),
    "messages": (
        "/v1/messages",
        _MESSAGES,
        anthropic.types.Message,
        anthropic.types.RawMessageStreamEvent,
    ),
    "beta messages": ("/v1/messages?beta=true", _MESSAGES, BetaMessage, BetaRawMessageStreamEvent),
}
_UNDECLARED = {
    ".choices[0].message.reasoning_content",
    ".choices[0].delta.reasoning_content",
    ".response.store",
    ".store",
    ".name",
}
"""Members that clients read, or that the APIs send, and that the SDKs' types leave out."""
_LOOKED = turn(("lookup", {}), pieces=["I ", "look."], reasoning="They want it.", usage={"input_tokens": 7})
_CALLED = turn(("weather", {"city": "Paris"}), pieces=["Now."], reasoning="Then.")
_ANSWERS: dict[str, list[Any]] = {
    "words": [{"text": "Hello.", "usage": {"input_tokens": 7, "cached_tokens": 2, "reasoning_tokens": 1}}],
    "calls": [_LOOKED, _CALLED],
    "cut": [{"text": "Hel", "stop": "length"}],
    "cut call": [turn(("weather", {"city": "Paris"}), stop="length")],
    "refused": [{"text": "No.", "stop": "refusal"}],
}


def _undeclared(value: Any, at: str = "") -> Iterator[str]:
    """The members of ``value`` that its type does not declare."""
    if isinstance(value, BaseModel):
        yield from (f"{at}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from _undeclared(getattr(value, name), f"{at}.{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _undeclared(each, f"{at}[{number}]")


def _read(kind: Any, raw: Any) -> Any:
    """``raw`` as ``kind``: no value is converted, nothing is missing, and nothing is unknown."""
    value = TypeAdapter[Any](kind).validate_json(json.dumps(raw), strict=True)
    assert set(_undeclared(value)) <= _UNDECLARED
    return value


def _post(url: str, body: dict[str, Any]) -> httpx2.Response:
    return httpx2.post(url, json=body, timeout=BOUND_S)


def _events(text: str) -> list[Any]:
    data = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    found = [json.loads(each) for each in data if each != "[DONE]"]
    return [each for each in found if each.get("type") != "ping"]


@pytest.mark.parametrize("answer", _ANSWERS)
@pytest.mark.parametrize("api", _APIS)
def test_an_answer_is_of_the_declared_type_whole_and_in_pieces(api: str, answer: str) -> None:
    path, body, whole, event = _APIS[api]
    turns = _ANSWERS[answer]
    with gateway([*turns, *turns], Performed("lookup")) as served:
        response = _post(served.url + path, body)
        assert response.status_code == 200, response.text
        _read(whole, response.json())
        streamed = _events(_post(served.url + path, {**body, "stream": True}).text)
    assert len(streamed) > 1
    for each in streamed:
        _read(event, each)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_text_in_place_of_structured_output_is_of_the_declared_type(api: str) -> None:
    path, body, whole, event = _APIS[api]
    form: dict[str, Any] = (
        {"response_format": {"type": "json_schema", "json_schema": _FORM}}
        if api == "chat"
        else {"text": {"format": {"type": "json_schema", **_FORM}}}
    )
    turns: list[Any] = [{"text": "I am no poet."}] * 2
    with gateway([*turns, *turns]) as served:
        _read(whole, _post(served.url + path, {**body, **form}).json())
        for each in _events(_post(served.url + path, {**body, **form, "stream": True}).text):
            _read(event, each)


def test_a_call_of_a_custom_tool_is_of_the_declared_type() -> None:
    called = turn(("sql", {"input": "select 1"}))
    path, body, whole, _ = _APIS["chat"]
    with gateway([called]) as served:
        completion = _read(whole, _post(served.url + path, body).json())
    assert completion.choices[0].message.tool_calls[0].custom.input == "select 1"
    path, body, whole, event = _APIS["responses"]
    with gateway([called, called]) as served:
        response = _read(whole, _post(served.url + path, body).json())
        streamed = _events(_post(served.url + path, {**body, "stream": True}).text)
    assert response.output[0].input == "select 1"
    assert {each["type"] for each in streamed} >= {
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
    }
    for each in streamed:
        _read(event, each)


def test_a_failure_within_a_stream_is_of_the_declared_type() -> None:
    turns: list[Any] = [turn(("lookup", {}), pieces=["I look."]), ProviderError("gone", status=500)]
    with gateway([*turns, *turns], Performed("lookup")) as served:
        path, body, _, event = _APIS["responses"]
        for each in _events(_post(served.url + path, {**body, "stream": True}).text):
            _read(event, each)
        path, body, _, event = _APIS["messages"]
        *before, last = _events(_post(served.url + path, {**body, "stream": True}).text)
    assert _read(anthropic.types.ErrorResponse, last).error.message == "gone"
    for each in before:
        _read(event, each)


def test_errors_models_and_counts_are_of_the_declared_types() -> None:
    claude = {"anthropic-version": "2023-06-01"}
    with gateway([]) as served:
        refused = _post(f"{served.url}/v1/messages", {}).json()
        counted = _post(f"{served.url}/v1/messages/count_tokens", _MESSAGES).json()
        listed = httpx2.get(f"{served.url}/v1/models", timeout=BOUND_S).json()
        of_claude = httpx2.get(f"{served.url}/v1/models", headers=claude, timeout=BOUND_S).json()
    _read(anthropic.types.ErrorResponse, refused)
    _read(anthropic.types.MessageTokensCount, counted)
    for each in listed["data"]:
        _read(openai.types.Model, each)
    for each in of_claude["data"]:
        _read(anthropic.types.ModelInfo, each)
