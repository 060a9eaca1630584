"""A conversation as input items: what the model gave goes back item by item, with its encrypted reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...messages import Request, ToolOutcome
from ..shared.conversation.history import (
    AssistantTurn,
    UserTurn,
    turns,
)
from ..shared.conversation.results import (
    Media,
    MediaSupport,
    render_parts,
    render_result,
)
from .echo import FORMAT, Echoes

MAX_OUTPUT_CHARACTERS = 10_485_760
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FILES = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
_MAX_MEDIA_BYTES = 15_000_000  # 20 million characters of base64; a data URL may have 20,971,520


def input_items(request: Request) -> Iterator[dict[str, Any]]:
    support = MediaSupport(
        min(request.max_result_bytes, MAX_OUTPUT_CHARACTERS - 200),
        media=_FILES if request.vision else frozenset(),
        max_media_bytes=_MAX_MEDIA_BYTES,
    )
    echoes = Echoes(request)
    for turn in turns(request.messages, _LEGAL_ID, FORMAT):
        if isinstance(turn, UserTurn):
            yield {"role": "user", "content": _question(turn, support)}
        elif isinstance(turn, AssistantTurn):
            yield from echoes.items(turn)
        else:
            for call, outcome in turn.results:
                output = _output(outcome, support)
                yield {"type": "function_call_output", "call_id": call.id, "output": output}


def _question(turn: UserTurn, support: MediaSupport) -> str | list[dict[str, Any]]:
    if not turn.parts:
        return turn.text
    return [_text(turn.text), *map(_part, render_parts(turn.parts, support))]


def _output(outcome: ToolOutcome, support: MediaSupport) -> str | list[dict[str, Any]]:
    shown = render_result(outcome, support)
    if not shown.media:
        return shown.text_with_error_mark
    rendered = [_text(shown.text_with_error_mark)] if shown.text or shown.failed else []
    return [*rendered, *map(_part, shown.media)]


def _part(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return _text(part)
    url = f"data:{part.mime};base64,{part.data}"
    if part.is_image:
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    name = part.name.rpartition("/")[2]
    known = name if name.lower().endswith(".pdf") else "document.pdf"
    return {"type": "input_file", "filename": known, "file_data": url}


def _text(rendered: str) -> dict[str, Any]:
    return {"type": "input_text", "text": rendered}
