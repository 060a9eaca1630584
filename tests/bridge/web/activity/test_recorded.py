"""What a running server does is in its activity log, whoever asked and by what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_providers import Sent
from tests.support.keyed_gateway import MODEL, TURN_USD, calling, keyed_gateway, new_key, recorded, said
from tests.support.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.3.113")]
ASKED: list[Any] = [{"role": "user", "content": "Hello"}]
REFUSED = Sent({"error": {"message": "not with this key", "type": "invalid_api_key"}}, 401)


def told(entry: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(entry[name] for name in names)


def test_requests_of_the_gateway_are_recorded_with_calls_tokens_cost_and_key(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [calling("get_weather", city="Rome"), said("Rain."), REFUSED]) as app:
        key = new_key(tmp_path, "team", models=("openai-chat/*",))
        bearer = f"Bearer {key}"
        body: dict[str, Any] = {"model": MODEL, "max_tokens": 9, "messages": ASKED}
        answered = app.ask("POST", "/v1/messages", body, Authorization=bearer)
        run, call = recorded(app, 2)
        assert told(run, "kind", "source", "key", "model", "provider", "status") == (
            ("run", "/v1/messages", "team", "gpt-4o", "openai-chat", "ok")
        )
        assert told(run, "input_tokens", "output_tokens", "tools") == (22, 14, 1)
        assert run["usd"] == pytest.approx(2 * TURN_USD)
        assert run["group"] == call["group"] == answered.headers["request-id"]
        assert told(call, "kind", "server", "tool", "status") == ("tool", "toolspan", "get_weather", "ok")
        assert 0 <= run["first_ms"] <= run["total_ms"]
        app.ask("POST", "/v1/chat/completions", body)
        app.ask("POST", "/v1/chat/completions", {**body, "model": "offline/keyword"}, Authorization=bearer)
        app.ask("POST", "/v1/responses", raw=b"{", Authorization=bearer)
        app.ask("GET", "/v1/models", Authorization=bearer)
        app.ask("GET", "/v1/models/unheard", Authorization=bearer)
        missing, listed, unread, forbidden, failed = recorded(app, 7)[:5]
        assert told(failed, "kind", "status", "error_code", "principal", "usd") == (
            ("run", "error", "auth", "local", 0.0)
        )
        assert told(forbidden, "kind", "status", "error_code", "model", "key") == (
            ("request", "error", "model_not_allowed", "keyword", "team")
        )
        assert told(unread, "kind", "status", "error_code", "source") == (
            ("request", "error", "invalid_json", "/v1/responses")
        )
        assert told(listed, "kind", "status", "source", "key") == ("request", "ok", "/v1/models", "team")
        assert told(missing, "status", "error_code") == ("error", "http_404")
        summary = app.ask("GET", "/api/activity/summary").json
        assert {each["name"] for each in summary["requests"]} >= {"/v1/responses", "/v1/models"}


def test_conversations_tool_calls_and_tests_of_models_are_recorded_too(tmp_path: Path) -> None:
    replies = [calling("get_weather", city="Rome"), said("Rain."), said("A test.")]
    with keyed_gateway(tmp_path, replies) as app:
        talk = app.ask("POST", "/api/conversations", {"model": MODEL}).json["id"]
        asked = app.ask("POST", f"/api/conversations/{talk}/messages", {"text": "Weather?"})
        run, call = recorded(app, 2)
        assert asked.status == 202
        assert told(run, "kind", "source", "principal", "model", "status", "tools") == (
            ("run", "/api/conversations", "local", "gpt-4o", "ok", 1)
        )
        assert run["usd"] == pytest.approx(2 * TURN_USD)
        assert (call["group"], call["tool"]) == (run["group"], "get_weather")
        app.ask("POST", "/api/tools/call", {"name": "get_weather", "arguments": {"city": "Oslo"}})
        app.ask("POST", "/api/tools/call", {"name": "get_weather", "arguments": {"city": 1}})
        app.ask("POST", "/api/tools/test", {"query": "Hello", "model": MODEL})
        app.ask("POST", "/api/tools/test", {"query": "Hello", "model": "anthropic/unheard"})
        unasked, tested, wrong, called = recorded(app, 6)[:4]
        assert told(called, "kind", "source", "tool", "status") == (
            ("tool", "/api/tools/call", "get_weather", "ok")
        )
        assert told(wrong, "tool", "status") == ("get_weather", "error")
        assert told(tested, "kind", "source", "status") == ("run", "/api/tools/test", "ok")
        assert tested["usd"] == pytest.approx(TURN_USD)
        assert told(unasked, "kind", "status", "error_code", "provider") == (
            ("request", "error", "auth", "anthropic")
        )


def test_a_conversation_that_is_cancelled_or_cannot_be_asked_is_recorded_as_that(tmp_path: Path) -> None:
    with keyed_gateway(tmp_path, [Sent(stall=True)]) as app:
        for model in (MODEL, "anthropic/unheard"):
            talk = app.ask("POST", "/api/conversations", {"model": model}).json["id"]
            assert app.ask("POST", f"/api/conversations/{talk}/messages", {"text": "Hi"}).status == 202
            assert eventually(lambda: app.ask("POST", f"/api/conversations/{talk}/cancel").status == 200)  # noqa: B023
        unasked, left = recorded(app, 2)
        assert told(left, "kind", "status", "usd") == ("run", "cancelled", None)
        assert told(unasked, "kind", "status", "error_code") == ("request", "error", "auth")
