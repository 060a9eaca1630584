"""A conversation as Chat Completions messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...messages import Request
from ..shared.conversation.history import (
    AssistantTurn,
    ToolResultsTurn,
    UserTurn,
    chat_messages,
    turns,
)
from ..shared.conversation.media import IMAGES
from ..shared.conversation.results import (
    Media,
    MediaSupport,
    render_parts,
    render_result,
)
from ..shared.json_values import compact

_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SOUNDS = {
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
}


def messages(request: Request) -> list[dict[str, Any]]:
    support = _media_support(request)
    return chat_messages(
        request.system,
        turns(request.messages, _LEGAL_ID),
        user=lambda turn: _user(turn, support),
        assistant=_assistant,
        results=lambda turn: _results(turn, replace(support, later=support.media)),
    )


def _media_support(request: Request) -> MediaSupport:
    images = IMAGES if request.vision else frozenset[str]()
    sounds = frozenset(_SOUNDS) if request.audio else frozenset[str]()
    return MediaSupport(request.max_result_bytes, media=images | sounds)


def _user(turn: UserTurn, support: MediaSupport) -> dict[str, Any]:
    """One string, unless files come with it."""
    shown = [turn.text, *render_parts(turn.parts, support)]
    words = [part for part in shown if isinstance(part, str)]
    if len(words) == len(shown):
        return {"role": "user", "content": "\n\n".join(words)}
    parts = [_text_part(part) if isinstance(part, str) else _media_part(part) for part in shown]
    return {"role": "user", "content": parts}


def _assistant(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.message.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact(call.arguments)},
            }
            for call in turn.calls
        ]
    return message


def _results(turn: ToolResultsTurn, support: MediaSupport) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all their files: results themselves are text only."""
    parts: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = render_result(outcome, support)
        yield {"role": "tool", "tool_call_id": call.id, "content": shown.text_with_error_mark}
        for media in shown.media:
            parts += [_text_part(f"From the tool {call.name}:"), _media_part(media)]
    if parts:
        yield {"role": "user", "content": parts}


def _text_part(rendered: str) -> dict[str, Any]:
    return {"type": "text", "text": rendered}


def _media_part(media: Media) -> dict[str, Any]:
    if media.is_image:
        return {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{media.data}"}}
    return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[media.mime]}}
