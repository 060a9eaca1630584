"""Each format's real provider, and what its fake refuses: its address, its headers, and its body by the rules
written here and by what the provider's own client publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support import official_types
from tests.support.fake_providers import Received, checks

KEY = "sk-scenario"
_CLAUDE = "anthropic.claude-x-v1:0"
_EVENTS = "application/vnd.amazon.eventstream"
_SSE = "text/event-stream"


@dataclass(frozen=True)
class Place:
    """A format's provider: the model, its settings at a base URL, its check for whole answers and streams."""

    model: str
    variables: Callable[[str], Mapping[str, str]]
    whole: checks.Check
    streamed: checks.Check
    content_type: str = _SSE


def _bedrock(base: str) -> dict[str, str]:
    return {
        "AWS_BEARER_TOKEN_BEDROCK": KEY,
        "AWS_REGION": "eu-west-3",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": base,
    }


def _openai(base: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{base}/v1"}


def _also(check: checks.Check, official: Callable[[Any], None]) -> checks.Check:
    """``check``, and then what the provider's own client says of the body."""

    def both(request: Received) -> str:
        return check(request) or checks.obeys(official, request.body)

    return both


_CHAT = _also(checks.openai(KEY), lambda body: official_types.check_openai("chat", body))
_RESPONSES = _also(checks.responses(KEY), lambda body: official_types.check_openai("responses", body))
_PROMPT = _also(checks.prompted(KEY), lambda body: official_types.check_openai("chat", body))


def _official_ollama(body: Any) -> None:
    if "messages" in body:  # of /api/show the client has nothing more to say
        official_types.check_ollama(body)


_OLLAMA = _also(checks.ollama(), _official_ollama)


def _gemini(method: str) -> checks.Check:
    return _also(checks.gemini(KEY, "gemini-3-pro", method=method), official_types.check_gemini)


PLACES: Mapping[str, Place] = {
    "openai": Place("openai/gpt-x", _openai, _CHAT, _CHAT),
    "openai-responses": Place("openai-responses/gpt-x", _openai, _RESPONSES, _RESPONSES),
    "prompt": Place("prompt:openai/gpt-x", _openai, _PROMPT, _PROMPT),
    "anthropic": Place(
        "anthropic/claude-x",
        lambda base: {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": base},
        checks.anthropic(KEY),
        checks.anthropic(KEY),
    ),
    "gemini": Place(
        "gemini/gemini-3-pro",
        lambda base: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": base},
        _gemini("generateContent"),
        _gemini("streamGenerateContent?alt=sse"),
    ),
    "ollama": Place(
        "ollama/llama-x",
        lambda base: {"OLLAMA_HOST": base},
        _OLLAMA,
        _OLLAMA,
        "application/x-ndjson",
    ),
    "bedrock": Place(
        f"bedrock/{_CLAUDE}",
        _bedrock,
        checks.bedrock_token(KEY, _CLAUDE),
        checks.bedrock_token(KEY, _CLAUDE, "converse-stream"),
        _EVENTS,
    ),
    "bedrock-anthropic": Place(
        f"bedrock-anthropic/{_CLAUDE}",
        _bedrock,
        checks.bedrock_token(KEY, _CLAUDE, "invoke"),
        checks.bedrock_token(KEY, _CLAUDE, "invoke-with-response-stream"),
        _EVENTS,
    ),
}
