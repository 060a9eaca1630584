"""Gemini over its Developer API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.fake_providers import FakeProvider, Sent, anything, checks
from tests.support.provider_cases import ANSWERED, ask, stream
from tests.support.wires.gemini import answer, frames
from toolspan_bridge.errors import AuthError, ProviderError
from toolspan_bridge.formats import get_format
from toolspan_bridge.providers import resolve_model

pytestmark = pytest.mark.anyio

KEY = "AIza-test"


def content(*parts: dict[str, Any]) -> Sent:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    return Sent(
        {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7}}
    )


CALLING = content({"functionCall": {"name": "config__get_weather", "args": {"location": "Paris"}}})


@pytest.mark.requirement("I2.6.2")
@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
async def test_it_asks_and_answers_with_either_key(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = checks.gemini(KEY, "gemini-3-pro")
    with FakeProvider(check, [CALLING, content({"text": "22 °C"})]) as fake:
        monkeypatch.setenv(variable, KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        first = await ask("gemini/gemini-3-pro")
        second = await ask("gemini/models/gemini-3-pro", messages=ANSWERED)
    (call,) = first.message.calls
    assert (call.name, call.arguments) == ("config__get_weather", {"location": "Paris"})
    assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 7)
    assert second.message.text == "22 °C"


async def test_its_own_variable_goes_before_googles(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.gemini(KEY, "m"), [content({"text": "hi"})]) as fake:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_API_KEY", "another")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        await ask("gemini/m")


async def test_a_model_name_cannot_leave_its_place_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(checks.gemini(KEY, "..%2F..%2Ffiles%3Fx%23"), [content({"text": "hi"})]) as fake:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        await ask("gemini/../../files?x#")


@pytest.mark.requirement("I2.6.2")
def test_without_a_key_both_variables_are_named() -> None:
    with pytest.raises(AuthError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set"):
        resolve_model("gemini/m")


@pytest.mark.requirement("I5.3.1", "I5.1.2")
async def test_it_streams_from_an_address_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [("c1", "config__get_weather", {"location": "Paris"})]
    check = checks.gemini(KEY, "gemini-3-pro", method="streamGenerateContent?alt=sse")
    with FakeProvider(check, [Sent(frames=frames("Let me see.", calls))]) as fake:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        text, reply = await stream("gemini/gemini-3-pro")
    assert text == reply.message.text == "Let me see."
    parsed = get_format("gemini").parse_reply(answer("Let me see.", calls)).message
    assert reply.message == replace(parsed, origin="gemini")


def refused(reason: str) -> dict[str, Any]:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}, "odd"]
    return {"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT", "details": details}}


@pytest.mark.parametrize("body", [refused("API_KEY_INVALID"), [refused("API_KEY_INVALID")]])
async def test_a_wrong_key_which_it_answers_with_400_is_told_from_other_400s(
    body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with FakeProvider(anything, [Sent(body, status=400)]) as fake:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        with pytest.raises(AuthError, match="check GEMINI_API_KEY or GOOGLE_API_KEY"):
            await ask("gemini/m")


@pytest.mark.parametrize(
    "body", [refused("OTHER"), {"error": "x"}, {"error": {"details": {}}}, b"<html>", []]
)
async def test_any_other_400_is_a_provider_error(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with FakeProvider(anything, [Sent(body, status=400)]) as fake:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
        with pytest.raises(ProviderError, match="gemini answered 400"):
            await ask("gemini/m")
