"""Claude's thoughts behind a beginning that changed: asked once more without them, told, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, checks
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from tests.support.wires import anthropic as wire
from tests.support.wires import bedrock_anthropic as bedrock_wire
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.messages import Reply, Request, User
from toolspan_bridge.providers import Provider, resolve_model

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I11.1.5")]

KEY = "sk-ant-secret"
MODEL = "claude-opus-5-5"
BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
    '"drop_block".'
)
Fake = Callable[..., FakeProvider]


@pytest.fixture(params=["anthropic", "bedrock-anthropic"])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def refused(name: str, message: str = BOUND) -> Sent:
    if name == "anthropic":
        body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
        return Sent(body, status=400)
    return Sent({"message": message}, status=400, headers={"x-amzn-errortype": "ValidationException"})


def answered(name: str, text: str, *, streamed: bool) -> Sent:
    if not streamed:
        return Sent(wire.answer(text))
    if name == "anthropic":
        return Sent(b"".join(wire.frames(text)), headers={"content-type": "text/event-stream"})
    kind = {"content-type": "application/vnd.amazon.eventstream"}
    return Sent(b"".join(bedrock_wire.frames(text)), headers=kind)


def served(name: str, *replies: Sent, streamed: bool) -> FakeProvider:
    operation = "invoke-with-response-stream" if streamed else "invoke"
    check = checks.anthropic(KEY) if name == "anthropic" else checks.bedrock_token(KEY, MODEL, operation)
    return FakeProvider(check, replies)


async def ask(provider: Provider, *, streamed: bool, **fields: Any) -> Reply:
    request = Request(MODEL, (User("hi"),), tools=SEED_TOOLS, **fields)
    if not streamed:
        return await provider.answer(request)
    async with aclosing(provider.stream(request)) as items:
        found = [item async for item in items if isinstance(item, Reply)]
    return found[-1]


def connected(name: str, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    for variable in ("ANTHROPIC_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        monkeypatch.setenv(variable, fake.url)
    provider, _ = resolve_model(f"{name}/{MODEL}", instant())
    return provider


async def test_it_is_asked_once_more_and_remembered(
    name: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [refused(name), *(answered(name, text, streamed=streamed) for text in ("One.", "Two.", "New."))]
    with served(name, *replies, streamed=streamed) as fake:
        async with aclosing(connected(name, fake, monkeypatch)) as provider:
            first = await ask(provider, streamed=streamed, conversation="a")
            second = await ask(provider, streamed=streamed, conversation="a")
            other = await ask(provider, streamed=streamed, conversation="b")
    assert [reply.message.text for reply in (first, second, other)] == ["One.", "Two.", "New."]
    assert [len(reply.notes) for reply in (first, second, other)] == [1, 0, 0]
    assert "left out earlier thoughts" in first.notes[0]
    bound = ["block_binding" in request.body["thinking"] for request in fake.received]
    assert bound == [False, True, True, False]


async def test_it_is_asked_only_once(name: str, streamed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(name, refused(name), refused(name), streamed=streamed) as fake:
        async with aclosing(connected(name, fake, monkeypatch)) as provider:
            with pytest.raises(ProviderError, match="bound to a different") as caught:
                await ask(provider, streamed=streamed)
    assert caught.value.fault == "changed_prefix" and len(fake.received) == 2


async def test_a_context_that_is_too_long_is_said(
    name: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = refused(name, "prompt is too long: 213462 tokens > 200000 maximum")
    with served(name, long, streamed=streamed) as fake:
        async with aclosing(connected(name, fake, monkeypatch)) as provider:
            with pytest.raises(ProviderError) as caught:
                await ask(provider, streamed=streamed)
    assert caught.value.fault == "context_overflow"
