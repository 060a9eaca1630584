"""Providers that count a request's tokens: by the address and the body that each of them takes."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support import official_types
from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.provider_cases import ANSWERED
from tests.support.provider_rules.bedrock import check_count
from tests.support.provider_rules.bedrock import check_request as check_converse
from tests.support.provider_rules.gemini import check_request as check_gemini
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge.errors import ProviderError, UsageError
from toolspan_bridge.messages import Request
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.token_counting import count_tokens
from toolspan_bridge.providers.wire.provider import WireProvider
from toolspan_bridge.providers.wire.token_counts import CountsTokens
from toolspan_bridge.providers.wire.two_wires import TwoWires

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.7")]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-test")
    monkeypatch.setenv("VERTEX_ACCESS_TOKEN", "ya29.test")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-test")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-test")


async def counted(named: str, body: Any, variable: str, patch: pytest.MonkeyPatch) -> tuple[int, Received]:
    with FakeProvider(anything, [Sent(body)]) as fake:
        patch.setenv(variable, fake.url)
        provider, model = resolve_model(named, instant())
        assert isinstance(provider, CountsTokens)
        async with aclosing(provider):
            request = Request(model, ANSWERED, "Be brief.", SEED_TOOLS)
            return await provider.count_tokens(request), fake.received[0]


async def test_gemini_counts_a_whole_request(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, asked = await counted(
        "gemini/gemini-3-pro", {"totalTokens": 41}, "GOOGLE_GEMINI_BASE_URL", monkeypatch
    )
    assert (tokens, asked.target) == (41, "/v1beta/models/gemini-3-pro:countTokens")
    request = asked.body["generateContentRequest"]
    assert request.pop("model") == "models/gemini-3-pro"
    check_gemini(request, "gemini-3-pro")
    assert {"contents", "systemInstruction", "tools"} <= request.keys()


async def test_vertex_counts_what_it_knows_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, asked = await counted(
        "vertex/gemini-3-pro", {"totalTokens": 42}, "GOOGLE_VERTEX_BASE_URL", monkeypatch
    )
    assert tokens == 42 and asked.target.endswith("/publishers/google/models/gemini-3-pro:countTokens")
    assert asked.body.keys() == {"contents", "systemInstruction", "tools"}


async def test_bedrock_counts_by_the_model_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    model = "anthropic.claude-sonnet-4-6"
    variable = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
    tokens, asked = await counted(f"bedrock/eu.{model}", {"inputTokens": 43}, variable, monkeypatch)
    assert (tokens, asked.target) == (43, f"/model/{model}/count-tokens")
    check_count(asked.body)
    check_converse(asked.body["input"]["converse"], model)


@pytest.mark.parametrize("body", [{"totalTokens": "many"}, {}, [1], b"no JSON"])
async def test_an_answer_without_a_count_is_an_error(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProviderError, match="it counted no totalTokens"):
        await counted("gemini/gemini-3-pro", body, "GOOGLE_GEMINI_BASE_URL", monkeypatch)


async def test_a_model_that_is_not_counted_for_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = {"message": "The provided model doesn't support counting tokens."}
    with FakeProvider(anything, [Sent(refusal, 400, {"x-amzn-errortype": "ValidationException"})]) as fake:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", fake.url)
        provider, model = resolve_model("bedrock/amazon.nova-micro-v1:0", instant())
        assert isinstance(provider, CountsTokens)
        async with aclosing(provider):
            with pytest.raises(ProviderError, match="doesn't support counting tokens"):
                await provider.count_tokens(Request(model, ANSWERED, tools=SEED_TOOLS))


COUNTED = {"object": "response.input_tokens", "input_tokens": 44}


async def test_openai_counts_what_responses_would_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, asked = await counted("openai-responses/gpt-5", COUNTED, "OPENAI_BASE_URL", monkeypatch)
    assert (tokens, asked.target) == (44, "/responses/input_tokens")
    assert {"input", "instructions", "model", "tools"} <= asked.body.keys()
    official_types.check_openai_count(asked.body)


def connected(named: str) -> WireProvider:
    provider, _ = resolve_model(named, instant())
    assert isinstance(provider, WireProvider)
    return provider


async def test_a_provider_with_two_formats_counts_by_the_one_that_the_model_is_asked_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = Request("gpt-5", ANSWERED, tools=SEED_TOOLS)
    with FakeProvider(anything, [Sent(COUNTED)]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        responses, chat = connected("openai-responses/gpt-5"), connected("openai-chat/gpt-5")
        async with aclosing(TwoWires(responses, chat, lambda model: model == "gpt-x")) as provider:
            assert await count_tokens(provider, request) == 44
            with pytest.raises(UsageError, match=r"no endpoint that counts .* in the format openai:"):
                await count_tokens(provider, Request("gpt-x", ANSWERED))
        assert [asked.target for asked in fake.received] == ["/responses/input_tokens"]


@pytest.mark.parametrize("model", ["groq/llama", "ollama/llama", "offline/keyword", "openai-chat/gpt-5"])
async def test_a_provider_without_a_count_says_so(model: str) -> None:
    provider, name = resolve_model(model, instant())
    async with aclosing(provider):
        with pytest.raises(UsageError, match="has no endpoint that counts the tokens"):
            await count_tokens(provider, Request(name, ANSWERED))
