"""Providers that count a request's tokens: by the address and the body that each of them takes."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything
from tests.support.provider_cases import ANSWERED
from tests.support.provider_rules.bedrock import check_count
from tests.support.provider_rules.bedrock import check_request as check_converse
from tests.support.provider_rules.gemini import check_request as check_gemini
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Request
from toolspan_bridge.providers import resolve_model
from toolspan_bridge.providers.wire.token_counts import CountsTokens

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.3.7")]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-test")
    monkeypatch.setenv("VERTEX_ACCESS_TOKEN", "ya29.test")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-test")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")


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
