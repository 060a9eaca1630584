"""A broken answer is never a success, in no verb, over the wire of each format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import toolspan
from tests.support.fake_providers import FakeProvider, Sent, anything
from toolspan_bridge.formats import get_format

pytestmark = pytest.mark.requirement("I9.2.13")

TOOLS = """
tools:
  registry:
    - name: ring
      description: Ring the bell
      implementation: {type: mock, mock_response: rang}
"""
SUITE = "name: one\nscenarios:\n  - {query: Say hello, expect: {no_calls: true}}\n"


def openai(reason: str, **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, **message}
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def gemini(reason: str, *parts: dict[str, Any]) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return {"candidates": [{"finishReason": reason, **content}]}


def claude(reason: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": reason}


def responses(status: str, reason: str = "", *content: dict[str, Any]) -> dict[str, Any]:
    output = [{"type": "message", "role": "assistant", "content": list(content)}] if content else []
    return {"status": status, "output": output, "incomplete_details": {"reason": reason} if reason else None}


def ollama(reason: str, **message: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": "", **message}, "done": True, "done_reason": reason}


CALL = {"id": "c1", "type": "function", "function": {"name": "mine__ring", "arguments": "{}"}}
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("gemini", gemini("MALFORMED_FUNCTION_CALL"), "malformed"),
    (
        "gemini",
        gemini("MALFORMED_FUNCTION_CALL", {"functionCall": {"name": "mine__ring", "args": {}}}),
        "malformed",
    ),
    ("gemini", gemini("UNEXPECTED_TOOL_CALL"), "malformed"),
    ("gemini", gemini("SAFETY"), "refusal"),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "refusal"),
    ("gemini", gemini("OTHER", {"text": "Hel"}), "error"),
    ("gemini", gemini("MAX_TOKENS", {"text": "Hel"}), "length"),
    ("gemini", gemini("STOP"), "empty"),
    ("openai", openai("content_filter", tool_calls=[CALL]), "refusal"),
    ("openai", openai("stop", refusal="I will not."), "refusal"),
    ("openai", openai("length", tool_calls=[CALL]), "length"),
    ("openai", openai("error", content="Hel"), "error"),
    ("openai", openai("stop"), "empty"),
    (
        "anthropic",
        claude("refusal", {"type": "tool_use", "id": "c", "name": "mine__ring", "input": {}}),
        "refusal",
    ),
    ("anthropic", claude("max_tokens", {"type": "text", "text": "Hel"}), "length"),
    ("anthropic", claude("end_turn"), "empty"),
    ("openai-responses", responses("incomplete", "content_filter"), "refusal"),
    ("openai-responses", responses("cancelled", "", {"type": "output_text", "text": "Hel"}), "error"),
    ("openai-responses", responses("completed", "", {"type": "refusal", "refusal": "No."}), "refusal"),
    ("openai-responses", responses("completed"), "empty"),
    ("ollama", ollama("length", content="Hel"), "length"),
    ("ollama", ollama("load"), "empty"),
]
NAMES = [f"{format_name}-{stop}-{place}" for place, (format_name, _, stop) in enumerate(BROKEN)]


def config(folder: Path, url: str, format_name: str) -> None:
    own = f"{{base_url: '{url}', format: {format_name}, api_key: key-0123456789}}"
    (folder / "toolspan.yaml").write_text(f"name: mine\nproviders: {{house: {own}}}\n{TOOLS}")
    (folder / "suite.yaml").write_text(SUITE)


class _Always(FakeProvider):
    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(anything, [])
        self._body = body

    def respond(self, request: Any) -> Sent:
        self.received.append(request)
        return Sent(self._body)


@pytest.mark.parametrize(("format_name", "body", "stop"), BROKEN, ids=NAMES)
def test_ask_fails_with_the_reason_and_makes_no_call(
    format_name: str, body: dict[str, Any], stop: str, tmp_path: Path
) -> None:
    with _Always(body) as fake:
        config(tmp_path, fake.url, format_name)
        ran = toolspan("ask", "Hello", "-m", "house/m", "-c", "toolspan.yaml", "--json", cwd=tmp_path)
        attempts = 3 if stop == "malformed" else 1
        assert len([each for each in fake.received if each.target != "/api/show"]) == attempts
    assert ran.code == 1
    assert (ran.json["stop"], ran.json["tool_calls"]) == (stop, [])
    assert ran.json["reason"]


@pytest.mark.parametrize("case", [0, 3, 8, 12], ids=lambda place: NAMES[place])
def test_validate_counts_it_as_failed_and_gives_no_badge(case: int, tmp_path: Path) -> None:
    format_name, body, stop = BROKEN[case]
    with _Always(body) as fake:
        config(tmp_path, fake.url, format_name)
        words = ("validate", "-m", "house/m", "--suite", "suite.yaml", "-c", "toolspan.yaml", "--json")
        ran = toolspan(*words, cwd=tmp_path)
    assert ran.code == 6
    (model,) = ran.json["models"]
    assert (model["success_count"], model["validated"]) == (0, False)
    assert f"the answer is incomplete ({stop})" in json.dumps(model["scenarios"])


def test_a_piped_chat_and_a_plain_ask_tell_it_on_stderr(tmp_path: Path) -> None:
    with _Always(BROKEN[0][1]) as fake:
        config(tmp_path, fake.url, "gemini")
        options = ("-m", "house/m", "-c", "toolspan.yaml")
        chat = toolspan("chat", *options, cwd=tmp_path, stdin="Hello\n")
        ask = toolspan("ask", "Hello", *options, cwd=tmp_path)
    assert (chat.code, ask.code) == (1, 1)
    assert all("calls that cannot be read" in ran.err for ran in (chat, ask))


def test_no_format_makes_calls_of_a_turn_that_is_not_whole() -> None:
    for format_name, body, stop in BROKEN:
        reply = get_format(format_name).parse_reply(body)
        assert reply.message.calls == (), (format_name, stop)
