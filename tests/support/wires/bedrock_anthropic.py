"""InvokeModel's answers for Claude: Anthropic's, their stream in Amazon's binary frames."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.support.event_frames import frame
from tests.support.fake_providers import checks
from tests.support.fake_providers.place import (
    CLAUDE_ON_BEDROCK,
    EVENT_STREAM,
    KEY,
    Place,
    bedrock_variables,
)
from tests.support.wires import anthropic
from tests.support.wires.anthropic import BROKEN, STOPS, answer, conversation

__all__ = [
    "BROKEN",
    "FAILURE",
    "NOISE",
    "STOPS",
    "STREAMS",
    "answer",
    "conversation",
    "error",
    "frames",
    "spoken",
]


def error(message: str, kind: str) -> bytes:
    return json.dumps({"message": message, "__type": kind}).encode()


def chunk(event: dict[str, Any]) -> bytes:
    written = json.dumps(event, ensure_ascii=False).encode()
    payload = {"bytes": base64.b64encode(written).decode(), "p": "abcdef"}
    return frame(json.dumps(payload).encode(), event="chunk")


def frames(text: str = "", calls: Any = (), stop: str = "stop") -> list[bytes]:
    """The stream of ``answer(text, calls, stop)``, its end with Bedrock's own measures."""
    *events, last = anthropic.events(answer(text, calls, stop))
    measured = {**last, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 8}}
    return [chunk(event) for event in [*events, measured]]


STREAMS = anthropic.streams(chunk)
NOISE = {name: chunk(event) for name, event in anthropic.NOISE_EVENTS.items()} | {
    "an unknown frame": frame(b"{}", event="initial-response"),
}
FAILURE = frame(b'{"message": "Overloaded, try later"}', exception="throttlingException")


def spoken(parts: Any, stop: str = "stop") -> tuple[dict[str, Any], list[bytes]]:
    body = anthropic.told(parts, stop)
    return body, [chunk(event) for event in anthropic.events(body)]


PLACE = Place(
    f"bedrock-anthropic/{CLAUDE_ON_BEDROCK}",
    bedrock_variables,
    checks.bedrock_token(KEY, CLAUDE_ON_BEDROCK, "invoke"),
    checks.bedrock_token(KEY, CLAUDE_ON_BEDROCK, "invoke-with-response-stream"),
    EVENT_STREAM,
)
