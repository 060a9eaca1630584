"""OpenAI's two wire formats: a model that refuses the one is asked by the other, once, with all its tools."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, checks
from tests.support.provider_cases import QUESTION
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wires import openai as chat
from tests.support.wires import openai_responses as responses
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Assistant, Message, Reply, Request, ToolOutcome, ToolResults, User
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.compatible.connect import connect_to
from toolspan_bridge.providers.preview import formats_of, preview
from toolspan_bridge.providers.settings.endpoint import Endpoint
from toolspan_bridge.providers.wire.two_wires import TwoWires

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.1")]

KEY = "sk-test-0123456789"
CALLS = [("call_1", "config__get_weather", {"location": "Paris"})]
RESULTS = ToolResults(
    (ToolOutcome("call_1", "get_weather", {"success": True, "result": {"temperature": 22}}),)
)
WANTS_RESPONSES = [
    (400, "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions."),
    (404, "This model is only supported in v1/responses and not in v1/chat/completions."),
    (404, "This is not a chat model and thus not supported in the v1/chat/completions endpoint."),
    (400, "The chatCompletion operation does not work with the specified model, gpt-5.1-codex."),
]
WANTS_CHAT = [
    (400, "The requested model 'gpt-4o-search' is not supported with the Responses API."),
    (404, "This model is not supported in v1/responses. Please use /v1/chat/completions instead."),
]


def refused(status: int, message: str) -> Sent:
    return Sent(responses.error(message, "invalid_request_error"), status=status)


def either(request: Received) -> str:
    """OpenAI with both of its APIs."""
    check = checks.responses if request.target.endswith("/responses") else checks.openai
    return check(KEY)(request)


def two(fake: FakeProvider, prefers_second: Callable[[str], bool] = lambda model: False) -> TwoWires:
    """As ``openai`` is at its own address: Responses first."""
    place = Endpoint("openai", f"{fake.url}/v1", KEY, "OPENAI_API_KEY", "", limit="max_completion_tokens")
    formats = ("openai-responses", "openai")
    first, second = (connect_to(place, wire_format, instant()) for wire_format in formats)
    return TwoWires(first, second, prefers_second)


@asynccontextmanager
async def openai_at(fake: FakeProvider, patch: pytest.MonkeyPatch) -> AsyncGenerator[Any]:
    """``openai`` as a person reaches it, with ``OPENAI_BASE_URL`` set: Chat Completions first."""
    patch.setenv("OPENAI_API_KEY", KEY)
    patch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
    provider, _ = resolve_model("openai/gpt-5.6-sol", instant())
    async with aclosing(provider):
        yield provider


async def asked(provider: Any, *messages: Message, stream: bool) -> Reply:
    request = Request("gpt-5.6-sol", messages or QUESTION, tools=SEED_TOOLS)
    if not stream:
        reply: Reply = await provider.answer(request)
        return reply
    return [item async for item in provider.stream(request) if isinstance(item, Reply)][-1]


def paths(fake: FakeProvider) -> list[str]:
    return [request.target.rpartition("/")[2] for request in fake.received]


def as_sent(body: dict[str, Any], wire: Any, *, stream: bool) -> Sent:
    return Sent(frames=wire.stream(body)) if stream else Sent(body)


THOUGHT = responses.whole([responses.REASONING, *responses.answer("", CALLS)["output"]])


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("status", "message"), WANTS_RESPONSES)
async def test_a_model_that_refuses_chat_completions_is_asked_by_responses_with_all_tools_and_remembered(
    status: int, message: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [refused(status, message), as_sent(THOUGHT, responses, stream=stream)]
    last = as_sent(responses.answer("22 °C"), responses, stream=stream)
    with FakeProvider(either, [*sent, last]) as fake:
        async with openai_at(fake, monkeypatch) as provider:
            first = await asked(provider, stream=stream)
            kept = Conversation([*QUESTION, first.message, RESULTS])
            history = Conversation.from_json(kept.to_json()).messages
            second = await asked(provider, *history, stream=stream)
    assert paths(fake) == ["completions", "responses", "responses"]
    assert len(fake.received[1].body["tools"]) == len(SEED_TOOLS)
    assert [call.name for call in first.message.calls] == ["config__get_weather"]
    (note,) = first.notes
    assert "openai answers for gpt-5.6-sol by openai-responses" in note
    assert (second.message.text, second.notes) == ("22 °C", ())
    assert fake.received[2].body["input"][1:3] == THOUGHT["output"]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("status", "message"), WANTS_CHAT)
async def test_a_model_that_refuses_responses_is_asked_by_chat_completions(
    status: int, message: str, stream: bool
) -> None:
    frames = chat.frames("22 °C")
    answered = Sent(frames=frames) if stream else Sent(chat.answer("22 °C"))
    with FakeProvider(either, [refused(status, message), answered, answered]) as fake:
        async with aclosing(two(fake)) as provider:
            first = await asked(provider, stream=stream)
            await asked(provider, stream=stream)
    assert paths(fake) == ["responses", "completions", "completions"]
    assert first.message.text == "22 °C"
    assert len(fake.received[1].body["tools"]) == len(SEED_TOOLS)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_model_that_both_refuse_is_refused_in_the_first_ones_words(stream: bool) -> None:
    replies = [refused(*WANTS_CHAT[0]), refused(*WANTS_RESPONSES[0])]
    with FakeProvider(either, replies) as fake:
        async with aclosing(two(fake)) as provider:
            with pytest.raises(ProviderError, match="not supported with the Responses API"):
                await asked(provider, stream=stream)
    assert paths(fake) == ["responses", "completions"]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_another_error_does_not_change_the_format(stream: bool) -> None:
    with FakeProvider(either, [refused(400, "Invalid 'input[0].content'.")]) as fake:
        async with aclosing(two(fake)) as provider:
            with pytest.raises(ProviderError, match="Invalid 'input"):
                await asked(provider, stream=stream)
    assert paths(fake) == ["responses"]


async def test_an_explicit_name_keeps_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeProvider(either, [refused(*WANTS_RESPONSES[0]), refused(*WANTS_CHAT[0])]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        for name in ("openai-chat", "openai-responses"):
            provider, _ = resolve_model(f"{name}/m", instant())
            async with aclosing(provider):
                with pytest.raises(ProviderError, match=r"\(ask for openai/gpt-5\.6-sol, which"):
                    await asked(provider, stream=False)
    assert paths(fake) == ["completions", "responses"]


def _formats(*models: str) -> list[str]:
    return [formats_of(model)[0] for model in models]


def test_openai_speaks_responses_and_chat_completions_where_the_base_url_leads_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert _formats("openai/gpt-5", "openai/gpt-audio-mini", "openai/gpt-4o-search-preview") == [
        "openai-responses",
        "openai",
        "openai",
    ]
    assert _formats("openai-chat/gpt-5", "openai-responses/gpt-5") == ["openai", "openai-responses"]
    monkeypatch.setenv("OPENAI_BASE_URL", "https://eu.api.openai.com/v1")
    assert _formats("openai/gpt-5") == ["openai-responses"]
    for elsewhere in ("http://127.0.0.1:8000/v1", "https://api.openai.com.example/v1"):
        monkeypatch.setenv("OPENAI_BASE_URL", elsewhere)
        assert _formats("openai/gpt-5", "openai-chat/gpt-5") == ["openai", "openai"]


async def test_the_request_is_shown_as_it_would_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    shown = await preview("openai/gpt-5", Request("", QUESTION, tools=SEED_TOOLS))
    assert shown.sent.url == "https://api.openai.com/v1/responses"
    assert json.loads(shown.sent.body)["model"] == "gpt-5"


async def test_a_conversation_goes_from_one_format_to_the_other_and_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    replies = [Sent(THOUGHT), Sent(chat.answer("22 °C")), Sent(responses.answer("Yes."))]
    messages: list[Message] = [*QUESTION]
    with FakeProvider(either, replies) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{fake.url}/v1")
        for name, more in (
            ("openai-responses", RESULTS),
            ("openai-chat", User("Is that warm?")),
            ("openai-responses", None),
        ):
            provider, _ = resolve_model(f"{name}/m", instant())
            async with aclosing(provider):
                messages.append((await asked(provider, *messages, stream=False)).message)
            messages += [] if more is None else [more]
    assert "encrypted" not in fake.received[1].content.decode()
    assert fake.received[2].body["input"][1:3] == THOUGHT["output"], "its own state is back with it"
    assert isinstance(messages[1], Assistant) and messages[1].origin == "openai"


async def test_known_models_are_asked_by_the_second_format_at_once() -> None:
    with FakeProvider(either, [Sent(chat.answer("hi"))]) as fake:
        async with aclosing(two(fake, lambda model: model == "gpt-5.6-sol")) as provider:
            await asked(provider, stream=False)
    assert paths(fake) == ["completions"]
