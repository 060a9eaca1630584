"""What models there are: each provider's list, read for what it tells."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Received, Sent, anything, checks
from tests.support.provider_settings import instant
from toolspan_bridge.errors import (
    AuthError,
    ProviderError,
    UnreachableError,
    UsageError,
)
from toolspan_bridge.providers import ModelFacts, resolve_model
from toolspan_bridge.providers.listing import ModelLister
from toolspan_bridge.providers.wire.model_facts import ollama_shown
from toolspan_bridge.providers.wire.provider import WireProvider
from toolspan_bridge.providers.wire.two_wires import TwoWires

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

KEY = "key-0123456789"


async def models(provider: str) -> tuple[ModelFacts, ...]:
    found, _ = resolve_model(f"{provider}/-", instant())
    assert isinstance(found, WireProvider | TwoWires)
    async with aclosing(found):
        return await found.models()


def got(path: str, **headers: str) -> Any:
    """A check for GETs of ``path``."""

    def check(request: Received) -> str:
        wanted = {name.replace("_", "-"): value for name, value in headers.items()}
        right = request.method == "GET" and request.target == path and not request.content
        return "" if right and wanted.items() <= request.headers.items() else f"{request}"

    return check


@pytest.mark.parametrize(
    ("entry", "facts"),
    [
        ({"id": "m", "created": 1, "owned_by": "x"}, ModelFacts("m")),
        (
            {
                "id": "m",
                "context_length": 131072,
                "architecture": {"input_modalities": ["text", "image"]},
                "supported_parameters": ["tools", "temperature"],
            },
            ModelFacts("m", 131072, tools=True, vision=True),
        ),
        ({"id": "m", "context_window": 8192}, ModelFacts("m", 8192)),
        (
            {
                "id": "m",
                "max_context_length": 32768,
                "capabilities": {"function_calling": False, "vision": True},
            },
            ModelFacts("m", 32768, tools=False, vision=True),
        ),
        ({"id": "m", "max_model_len": 4096}, ModelFacts("m", 4096)),
        ({"id": "m", "meta": {"n_ctx": 2048, "n_ctx_train": 131072}}, ModelFacts("m", 2048)),
        ({"id": "m", "meta": {"n_ctx_train": 131072}}, ModelFacts("m")),
        (
            {"id": "m", "context_length": 1, "supports_tools": True, "supports_image_input": False},
            ModelFacts("m", 1, tools=True, vision=False),
        ),
        ({"id": "m", "context_length": "many", "capabilities": [], "meta": 3}, ModelFacts("m")),
    ],
)
async def test_a_row_tells_what_its_list_tells(
    entry: dict[str, Any], facts: ModelFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    check = got("/v1/models", authorization=f"Bearer {KEY}")
    with FakeProvider(check, [Sent({"data": [entry, {"no": "id"}, 7]}), Sent([entry])]) as fake:
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{fake.url}/v1")
        assert await models("openrouter") == (facts,)
        assert await models("openrouter") == (facts,)


@pytest.mark.requirement("I25.4.8")
@pytest.mark.parametrize(
    ("props", "context"),
    [
        ({"default_generation_settings": {"n_ctx": 8192}}, 8192),
        ({"default_generation_settings": 7}, None),
        ([], None),
    ],
)
async def test_llama_cpp_s_context_is_what_it_was_started_with(
    props: Any, context: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {"data": [{"id": "m", "meta": {"n_ctx_train": 131072}}]}
    with FakeProvider(lambda received: None, [Sent(listed), Sent(props)]) as fake:
        monkeypatch.setenv("LLAMACPP_BASE_URL", f"{fake.url}/v1")
        assert await models("llamacpp") == (ModelFacts("m", context),)
        assert [received.target for received in fake.received] == ["/v1/models", "/props"]


async def test_anthropics_list_is_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    capable = {"image_input": {"supported": True}, "thinking": {"supported": False}}
    pages = [
        Sent(
            {
                "data": [{"id": "a", "max_input_tokens": 200000, "capabilities": capable}],
                "has_more": True,
                "last_id": "a",
            }
        ),
        Sent({"data": [{"id": "b"}], "has_more": False, "last_id": "b"}),
    ]
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FakeProvider(anything, pages) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        found = await models("anthropic")
    assert found == (ModelFacts("a", 200000, True, True, False), ModelFacts("b", tools=True))
    targets = [request.target for request in fake.received]
    assert targets == ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=a"]
    assert fake.received[0].headers["x-api-key"] == KEY


async def test_geminis_list_has_token_limits_and_those_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    methods = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
    pages = [
        Sent(
            {
                "models": [
                    {"name": "models/g-1", "inputTokenLimit": 1048576, "thinking": True, **methods},
                    {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
                ],
                "nextPageToken": "p/2",
            }
        ),
        Sent({"models": [{"name": "models/g-2", **methods}]}),
    ]
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with FakeProvider(anything, pages) as fake:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        found = await models("gemini")
    assert found == (ModelFacts("g-1", 1048576, thinking=True), ModelFacts("g-2"))
    assert fake.received[1].target == "/v1beta/models?pageSize=1000&pageToken=p%2F2"


async def test_ollama_tells_each_models_capabilities_and_context(monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(request: Received) -> Sent:
        if request.target == "/api/tags":
            return Sent({"models": [{"name": "a:1b", "model": "a:1b"}, {"name": "old"}]})
        if request.body["model"] == "a:1b":
            shown = {"capabilities": ["tools", "vision"], "model_info": {"x.context_length": 40960}}
            return Sent(shown)
        return Sent({"model_info": {"x.context_length": 2048}})

    with FakeProvider(anything, []) as fake:
        fake.respond = respond  # type: ignore[method-assign]
        monkeypatch.setenv("OLLAMA_HOST", fake.url)
        found = await models("ollama")
    assert found == (ModelFacts("a:1b", 40960, True, True, False), ModelFacts("old", 2048))


@pytest.mark.parametrize("token", [KEY, ""])
async def test_bedrocks_list_is_at_the_control_plane_with_a_key_or_signed(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    summaries = [
        {"modelId": "v.text", "inputModalities": ["TEXT", "IMAGE"], "outputModalities": ["TEXT"]},
        {"modelId": "v.image", "inputModalities": ["TEXT"], "outputModalities": ["IMAGE"]},
    ]
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", token)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-0123456789")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    signed = checks.bedrock_list_signed("AKIDEXAMPLE", "secret-0123456789", "us-east-1")
    check = got("/foundation-models", authorization=f"Bearer {KEY}") if token else signed
    with FakeProvider(check, [Sent({"modelSummaries": summaries})]) as fake:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", fake.url)
        assert await models("bedrock") == (ModelFacts("v.text", vision=True),)


@pytest.mark.parametrize("body", [b"<html>", b"", {"data": {}}, {}, 7, b"[" * 90_000])
async def test_what_is_no_list_is_said_to_be_none(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, [Sent(body)]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", fake.url)
        with pytest.raises(ProviderError, match="vllm sent no list of models"):
            await models("vllm")


async def test_a_list_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Sent({"data": [{"id": "a"}], "has_more": True, "last_id": "a"})
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FakeProvider(anything, [page] * 20) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        assert await models("anthropic") == (ModelFacts("a", tools=True),)


@pytest.mark.parametrize("provider", ["azure", "vertex"])
async def test_who_has_no_list_says_so(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    monkeypatch.setenv("VERTEX_ACCESS_TOKEN", KEY)
    with pytest.raises(UsageError, match=f"{provider} has no list of models: .*{provider}/"):
        await models(provider)


async def test_many_are_asked_at_once_and_each_error_stays_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    monkeypatch.setenv("LMSTUDIO_BASE_URL", "http://127.0.0.1:1/v1")
    lister = ModelLister()
    asked = ["vllm", "groq", "lmstudio", "offline", "scripted", "vllm"]
    with FakeProvider(anything, [Sent({"data": [{"id": "m"}]})]) as fake:
        monkeypatch.setenv("VLLM_BASE_URL", fake.url)
        await lister.listed(asked)
        found = await lister.listed(asked)  # the list is still fresh: the fake has no second one
    assert [each.provider for each in found] == ["vllm", "groq", "lmstudio", "offline", "scripted"]
    assert found[0].models == (ModelFacts("m"),)
    errors = [type(each.error) for each in found]
    assert errors == [type(None), AuthError, UnreachableError, type(None), UsageError]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"capabilities": 3, "model_info": []}', b"[" * 90_000])
def test_what_ollama_shows_may_be_anything(content: bytes) -> None:
    assert ollama_shown("m", content) == ModelFacts("m")
