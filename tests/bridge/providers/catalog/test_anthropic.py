"""Anthropic: the key, the version, whole and streamed answers, and errors as they are told."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ANSWERED, QUESTION, ask
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from tests.support.streamed import streamed
from tests.support.wires import anthropic as wire
from toolspan_bridge.errors import AuthError, ProviderError, UnknownModelError
from toolspan_bridge.messages import Request, User
from toolspan_bridge.messages.deltas import CallDelta, TextDelta
from toolspan_bridge.providers.catalog.anthropic import connect
from toolspan_bridge.providers.wire.token_counts import CountsTokens

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

KEY = "sk-ant-secret"
SSE = {"content-type": "text/event-stream; charset=utf-8"}
CALLS = [("toolu_1", "config__get_weather", {"location": "Paris"})]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def at(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)


def refused(status: int, kind: str, message: str, **more: Any) -> Sent:
    body = {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_7"}
    return Sent(body, status=status)


async def test_a_call_and_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [Sent(wire.answer("I look.", CALLS)), Sent(wire.answer("22 °C"))]
    with FakeProvider(checks.anthropic(KEY), replies) as fake:
        at(fake, monkeypatch)
        first = await ask("anthropic/claude-x", temperature=0.5, builtins=("web_search",))
        second = await ask("anthropic/claude-x", messages=ANSWERED)
    assert first.message.calls[0].arguments == {"location": "Paris"}
    assert (first.usage.input_tokens, first.usage.cached_tokens) == (11, 3)
    assert second.message.text == "22 °C"


@pytest.mark.requirement("I5.1.2")
async def test_an_answer_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"".join(wire.frames("I look.", CALLS))
    with FakeProvider(checks.anthropic(KEY), [Sent(body, headers=SSE)]) as fake:
        at(fake, monkeypatch)
        deltas, reply = await streamed("anthropic/claude-x")
    assert fake.received[0].body["stream"] is True
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "I look."
    pieces = [delta for delta in deltas if isinstance(delta, CallDelta)]
    assert pieces[0].name == "config__get_weather"
    assert json.loads("".join(piece.arguments for piece in pieces)) == {"location": "Paris"}
    assert reply.message.calls[0].id == "toolu_1" and not reply.incomplete


@pytest.mark.requirement("I5.1.2")
async def test_an_error_before_the_first_words_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = b"".join([wire.frames("x")[0], wire.FAILURE])
    replies = [Sent(failed, headers=SSE), Sent(b"".join(wire.frames("Hello")), headers=SSE)]
    with FakeProvider(checks.anthropic(KEY), replies) as fake:
        at(fake, monkeypatch)
        _, reply = await streamed("anthropic/claude-x")
    assert reply.message.text == "Hello" and not reply.incomplete


@pytest.mark.requirement("I5.4.5")
async def test_an_overloaded_server_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = refused(529, "overloaded_error", "Overloaded")
    with FakeProvider(checks.anthropic(KEY), [busy, Sent(wire.answer("hi"))]) as fake:
        at(fake, monkeypatch)
        reply = await ask("anthropic/claude-x", messages=(User("hi"),), tools=())
    assert reply.message.text == "hi" and len(fake.received) == 2


@pytest.mark.requirement("I5.4.5")
async def test_a_spent_limit_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    code = {"details": {"error_code": "enforced_spend_limit_reached"}}
    with FakeProvider(anything, [refused(429, "rate_limit_error", "Spent.", **code)]) as fake:
        at(fake, monkeypatch)
        with pytest.raises(ProviderError, match=r"enforced_spend_limit_reached: Spent. \(request req_7\)"):
            await ask("anthropic/claude-x")


@pytest.mark.requirement("I5.4.5")
async def test_a_refused_key_names_its_variable_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = refused(401, "authentication_error", f"invalid x-api-key {KEY}")
    with FakeProvider(anything, [denied]) as fake:
        at(fake, monkeypatch)
        with pytest.raises(AuthError, match="ANTHROPIC_API_KEY") as caught:
            await ask("anthropic/claude-x")
    assert KEY not in str(caught.value)


async def test_an_unknown_model_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(anything, [refused(404, "not_found_error", "model: claude-z")]) as fake:
        at(fake, monkeypatch)
        with pytest.raises(UnknownModelError, match="knows no 'claude-z'"):
            await ask("anthropic/claude-z")


@pytest.mark.requirement("I11.3.7")
async def test_the_tokens_of_a_request_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from anthropic.types import MessageCountTokensParams
    from pydantic import TypeAdapter

    replies = [Sent({"input_tokens": 1234}), Sent({"tokens": 1}), refused(404, "not_found_error", "no")]
    request = Request("claude-opus-5", QUESTION, "Be brief.", SEED_TOOLS, max_tokens=9, temperature=0.5)
    with FakeProvider(anything, replies) as fake:
        at(fake, monkeypatch)
        provider = connect("", instant())
        assert isinstance(provider, CountsTokens)
        async with aclosing(provider):
            assert await provider.count_tokens(request) == 1234
            with pytest.raises(ProviderError, match="counted no input_tokens"):
                await provider.count_tokens(request)
            with pytest.raises(UnknownModelError):
                await provider.count_tokens(request)
    sent = fake.received[0]
    assert sent.target == "/v1/messages/count_tokens"
    assert sent.body.keys() <= MessageCountTokensParams.__annotations__.keys()
    TypeAdapter(MessageCountTokensParams).validate_python(sent.body)
    assert sent.body["messages"] and sent.body["tools"] and sent.body["system"]


async def test_without_a_key_no_request_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(AuthError, match="set ANTHROPIC_API_KEY"):
        await ask("anthropic/claude-x")
