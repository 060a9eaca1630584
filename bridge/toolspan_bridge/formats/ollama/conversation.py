"""A conversation as Ollama's messages."""

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
from ..shared.json_values import as_object

FORMAT = "ollama"
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def messages(request: Request, system: str) -> list[dict[str, Any]]:
    support = MediaSupport(request.max_result_bytes, media=IMAGES if request.vision else frozenset())
    return chat_messages(
        system,
        turns(request.messages, _LEGAL_ID),
        user=lambda turn: _user(turn, support),
        assistant=_assistant,
        results=lambda turn: _results(turn, replace(support, later=support.media)),
    )


def _user(turn: UserTurn, support: MediaSupport) -> dict[str, Any]:
    shown = [turn.text, *render_parts(turn.parts, support)]
    rendered = "\n\n".join(part for part in shown if isinstance(part, str))
    pictures = [part.data for part in shown if isinstance(part, Media)]
    return {"role": "user", "content": rendered} | ({"images": pictures} if pictures else {})


def _assistant(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.message.text}
    message |= as_object(turn.echo(FORMAT)) or {}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"index": place, "name": call.name, "arguments": call.arguments}}
            for place, call in enumerate(turn.calls)
        ]
    return message


def _results(turn: ToolResultsTurn, support: MediaSupport) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all images: few templates show them in results."""
    captions: list[str] = []
    pictures: list[str] = []
    for call, outcome in turn.results:
        shown = render_result(outcome, support)
        rendered = shown.text_with_error_mark
        yield {"role": "tool", "tool_name": call.name, "tool_call_id": call.id, "content": rendered}
        captions.extend(f"From the tool {call.name}: {image.mime}" for image in shown.media)
        pictures.extend(image.data for image in shown.media)
    if pictures:
        yield {"role": "user", "content": "\n".join(captions), "images": pictures}
