"""A conversation as Chat Completions messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Request
from ...messages.chat_traits import ChatTraits
from ..shared.conversation.history import (
    AssistantTurn,
    SentCall,
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
from ..shared.openai_models import hears
from .state import FORMAT, echoed

_LEGAL_IDS = {
    "any": re.compile(r"[!-~]{1,256}"),
    "named": re.compile(r"[A-Za-z0-9_-]{1,40}"),
    "short": re.compile(r"[A-Za-z0-9]{9}"),
}
_UNANSWERED = "(no answer)"
_SOUNDS = {
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
}


def messages(request: Request) -> list[dict[str, Any]]:
    support = _media_support(request)
    chat = request.wire.chat
    write_results = _results if chat.user_after_tool else _results_with_media
    written = chat_messages(
        request.system,
        turns(request.messages, _LEGAL_IDS[chat.call_ids], keeps_own=chat.call_ids != "short"),
        user=lambda turn: _user(turn, support),
        assistant=lambda turn: _assistant(turn, chat),
        results=lambda turn: write_results(turn, support),
    )
    return written if chat.user_after_tool else list(_apart(written))


def _apart(written: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages with an assistant's between a tool's and a user's."""
    for before, message in zip([{}, *written], written, strict=False):
        if message["role"] == "user" and before.get("role") == "tool":
            yield {"role": "assistant", "content": _UNANSWERED}
        yield message


def _media_support(request: Request) -> MediaSupport:
    images = IMAGES if request.vision else frozenset[str]()
    sounds = frozenset(_SOUNDS) if request.audio or hears(request.model) else frozenset[str]()
    return MediaSupport(request.max_result_bytes, media=images | sounds)


def _user(turn: UserTurn, support: MediaSupport) -> dict[str, Any]:
    """One string, unless files come with it."""
    shown = [turn.text, *render_parts(turn.parts, support)]
    words = [part for part in shown if isinstance(part, str)]
    if len(words) == len(shown):
        return {"role": "user", "content": "\n\n".join(words)}
    parts = [_text_part(part) if isinstance(part, str) else _media_part(part) for part in shown]
    return {"role": "user", "content": parts}


def _assistant(turn: AssistantTurn, chat: ChatTraits) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.message.text or None}
    if turn.calls:
        ours = chat.echoes_call_state and turn.message.opaque_format == FORMAT
        message["tool_calls"] = [_call(call, ours=ours) for call in turn.calls]
    return {**message, **echoed(turn, chat)}


def _call(call: SentCall, *, ours: bool) -> dict[str, Any]:
    """A past call, with its state if that is ``ours``."""
    function = {"name": call.name, "arguments": compact(call.arguments)}
    sent: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
    return {**sent, "extra_content": call.opaque} if ours and call.opaque is not None else sent


def _results(turn: ToolResultsTurn, support: MediaSupport) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all their files: results themselves are text only."""
    parts: list[dict[str, Any]] = []
    following = replace(support, later=support.media)
    for call, outcome in turn.results:
        shown = render_result(outcome, following)
        yield {"role": "tool", "tool_call_id": call.id, "content": shown.text_with_error_mark}
        for media in shown.media:
            parts += [_text_part(f"From the tool {call.name}:"), _media_part(media)]
    if parts:
        yield {"role": "user", "content": parts}


def _results_with_media(turn: ToolResultsTurn, support: MediaSupport) -> Iterator[dict[str, Any]]:
    """One message a result, with its files."""
    for call, outcome in turn.results:
        shown = render_result(outcome, support)
        words = shown.text_with_error_mark
        parts = [_text_part(words), *map(_media_part, shown.media)]
        yield {"role": "tool", "tool_call_id": call.id, "content": parts if shown.media else words}


def _text_part(rendered: str) -> dict[str, Any]:
    return {"type": "text", "text": rendered}


def _media_part(media: Media) -> dict[str, Any]:
    if media.is_image:
        return {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{media.data}"}}
    return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[media.mime]}}
