"""Where a format's provider stands: its model, its settings, and what its stand-in on loopback refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import Received, checks

KEY = "sk-scenario"
CLAUDE_ON_BEDROCK = "anthropic.claude-x-v1:0"
EVENT_STREAM = "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Place:
    """A format's provider: the model, its settings at a base URL, its check for whole answers and streams."""

    model: str
    variables: Callable[[str], Mapping[str, str]]
    whole: checks.Check
    streamed: checks.Check
    content_type: str = "text/event-stream"


def bedrock_variables(base: str) -> dict[str, str]:
    """The settings of Bedrock's runtime at ``base``."""
    return {
        "AWS_BEARER_TOKEN_BEDROCK": KEY,
        "AWS_REGION": "eu-west-3",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": base,
    }


def openai_variables(base: str) -> dict[str, str]:
    """The settings of OpenAI at ``base``."""
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{base}/v1"}


def also(check: checks.Check, official: Callable[[Any], None]) -> checks.Check:
    """``check``, and then what the provider's own client says of the body."""

    def both(request: Received) -> str:
        return check(request) or checks.obeys(official, request.body)

    return both
