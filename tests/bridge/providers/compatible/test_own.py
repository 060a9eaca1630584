"""A config's own providers: any of the wire formats at any address."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import QUESTION
from tests.support.provider_settings import instant
from tests.support.seed_tools import SEED_TOOLS
from toolspan_bridge.errors import AuthError, UnreachableError, UsageError
from toolspan_bridge.messages import Request
from toolspan_bridge.providers import own_providers, resolve_model, split_model
from toolspan_bridge.providers.preview import preview
from toolspan_server.config import Config

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I5.3.1")]

KEY = "own-key-0123456789"
CHAT = {"choices": [{"message": {"role": "assistant", "content": "22 °C"}, "finish_reason": "stop"}]}
ANSWERS: dict[str, tuple[str, dict[str, str], Any]] = {
    "openai": ("/base/chat/completions", {"authorization": f"Bearer {KEY}"}, CHAT),
    "openai-responses": (
        "/base/responses",
        {"authorization": f"Bearer {KEY}"},
        {
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "22 °C"}]}],
        },
    ),
    "anthropic": (
        "/base/v1/messages",
        {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        {"role": "assistant", "content": [{"type": "text", "text": "22 °C"}], "stop_reason": "end_turn"},
    ),
    "gemini": (
        "/base/v1beta/models/m:generateContent",
        {"x-goog-api-key": KEY},
        {"candidates": [{"content": {"parts": [{"text": "22 °C"}]}, "finishReason": "STOP"}]},
    ),
    "ollama": (
        "/base/api/chat",
        {"authorization": f"Bearer {KEY}"},
        {"message": {"role": "assistant", "content": "22 °C"}, "done": True, "done_reason": "stop"},
    ),
}


def config(**provider: Any) -> Config:
    return Config.model_validate({"providers": {"mine": provider}})


async def said(model: str, of: Config, **fields: Any) -> str:
    provider, name = resolve_model(model, instant(), own_providers(of))
    async with aclosing(provider):
        return (await provider.answer(Request(name, QUESTION, tools=SEED_TOOLS, **fields))).message.text


@pytest.mark.parametrize("wire", ANSWERS)
async def test_every_format_is_spoken_at_the_base_url_with_the_key_and_the_headers(wire: str) -> None:
    path, headers, body = ANSWERS[wire]
    replies = [Sent({}), Sent(body)] if wire == "ollama" else [Sent(body)]
    with FakeProvider(anything, replies) as fake:
        own = config(base_url=f"{fake.url}/base/", format=wire, api_key=KEY, headers={"X-Team": "tools"})
        assert await said("mine/m", own) == "22 °C"
    asked = fake.received[-1]
    assert asked.target == path
    assert asked.headers.items() >= {**headers, "x-team": "tools"}.items()


async def test_the_limit_has_the_name_that_the_config_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with FakeProvider(checks.openai(KEY), [Sent(CHAT)]) as fake:
        own = config(base_url=f"{fake.url}/v1", key_env="MY_KEY", max_tokens_field="max_completion_tokens")
        await said("mine/m", own, max_tokens=7)
    assert fake.received[0].body["max_completion_tokens"] == 7


async def test_without_a_key_none_is_sent_and_a_header_may_be_the_key() -> None:
    with FakeProvider(anything, [Sent(CHAT)] * 2) as fake:
        await said("mine/m", config(base_url=fake.url))
        await said("mine/m", config(base_url=fake.url, api_key=KEY, headers={"Authorization": "Token t"}))
    assert "authorization" not in fake.received[0].headers
    assert fake.received[1].headers["authorization"] == "Token t"


async def test_no_error_shows_a_key_or_a_header() -> None:
    refusal = {"error": {"message": f"{KEY} and secret-header-value are wrong"}}
    with FakeProvider(anything, [Sent(refusal, status=401)]) as fake:
        own = config(base_url=fake.url, api_key=KEY, headers={"X-Pass": "secret-header-value"})
        with pytest.raises(AuthError, match=r"\[key\] and \[key\] are wrong.*\$\.providers\.mine\.api_key"):
            await said("mine/m", own)
    assert KEY not in repr(own) and "secret-header-value" not in repr(own)


async def test_a_preview_shows_variables_for_what_stands_in_the_config() -> None:
    own = config(base_url="http://127.0.0.1:1/v1", api_key=KEY, headers={"X-Pass": "secret-header-value"})
    shown = await preview("mine/m", Request("m", QUESTION), own_providers(own))
    assert shown.sent.headers["authorization"] == "Bearer $MINE_API_KEY"
    assert shown.sent.headers["x-pass"] == "$MINE_X_PASS"
    assert set(shown.variables) == {"MINE_API_KEY", "MINE_X_PASS"}


async def test_who_does_not_answer_is_named_by_the_place_in_the_config() -> None:
    with pytest.raises(UnreachableError, match=r"\$\.providers\.mine\.base_url"):
        await said("mine/m", config(base_url="http://127.0.0.1:1/v1"))


def test_a_key_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    own = config(base_url="http://127.0.0.1:1/v1", key_env="MY_KEY")
    with pytest.raises(AuthError, match="mine needs a key and MY_KEY is not set"):
        resolve_model("mine/m", own=own_providers(own))


def test_a_known_name_is_taken_only_by_who_says_so() -> None:
    own = Config.model_validate({"providers": {"openai": {"base_url": "http://127.0.0.1:1/v1"}}})
    with pytest.raises(UsageError, match=r"\$\.providers\.openai.*replaces: true"):
        own_providers(own)
    own = Config.model_validate({"providers": {"openai": {"base_url": "http://x/v1", "replaces": True}}})
    provider, name = resolve_model("openai/m", own=own_providers(own))
    assert (provider.name, name) == ("openai", "m")


def test_own_names_are_split_and_suggested() -> None:
    assert split_model("Mine:a/b", ["mine"]) == ("mine", "a/b")
    with pytest.raises(UsageError, match="did you mean 'mine'"):
        split_model("mien/x", ["mine"])


async def test_prompt_before_a_model_tells_it_of_the_tools_in_the_prompt() -> None:
    call = '{"name": "config__get_weather", "arguments": {"location": "Paris"}}'
    called = {"role": "assistant", "content": f"<tool_call>\n{call}\n</tool_call>"}
    with FakeProvider(anything, [Sent({"choices": [{"message": called, "finish_reason": "stop"}]})]) as fake:
        own = own_providers(config(base_url=fake.url))
        provider, name = resolve_model("prompt:mine/m", instant(), own)
        async with aclosing(provider):
            reply = await provider.answer(Request(name, QUESTION, tools=SEED_TOOLS))
    assert provider.format_name == "prompt:openai"
    assert reply.message.calls[0].arguments == {"location": "Paris"}
    body = fake.received[0].body
    assert "tools" not in body and "config__get_weather" in body["messages"][0]["content"]
