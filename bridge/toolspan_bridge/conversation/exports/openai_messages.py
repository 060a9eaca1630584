"""Chat Completions messages: what OpenAI's API and those modelled on it take as ``messages``."""

from __future__ import annotations

import json
from typing import Any

from ...formats import get_format
from ...formats.names import NameTable
from ...messages import Request
from ..log import Log

_KEYS = ("role", "content", "refusal", "tool_calls", "tool_call_id")
_LARGEST_RESULT = 1024**4


def openai_messages(log: Log) -> str:
    """A JSON list of messages, the system prompt first, each tool call with its result.

    A result is what the model was shown of it, whole; what only some servers take, as their thoughts, is
    left out.
    """
    beginning = next(iter(log.conversation.beginnings.values()), None)
    request = Request(
        model="",
        messages=tuple(log.conversation.messages),
        system="" if beginning is None else beginning.system,
        audio=True,
        max_result_bytes=_LARGEST_RESULT,
    )
    body = get_format("openai").render_request(request, NameTable.of(()))
    messages = [_plain(message) for message in body["messages"]]
    return json.dumps(messages, ensure_ascii=False, indent=2) + "\n"


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    plain = {key: message[key] for key in _KEYS if key in message}
    if calls := plain.get("tool_calls"):
        plain["tool_calls"] = [{key: call[key] for key in ("id", "type", "function")} for call in calls]
    return plain
