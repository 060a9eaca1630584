"""A conversation as input items: what the model gave goes back item by item, with its encrypted reasoning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...messages import Request, ToolOutcome
from ..shared.conversation.history import (
    AssistantTurn,
    SentCall,
    UserTurn,
    turns,
)
from ..shared.conversation.results import (
    Media,
    MediaSupport,
    render_parts,
    render_result,
)
from ..shared.json_values import (
    compact,
    is_object,
    load,
    objects,
)

MAX_OUTPUT_CHARACTERS = 10_485_760
FORMAT = "openai-responses"
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FILES = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
_MAX_MEDIA_BYTES = 15_000_000  # 20 million characters of base64; a data URL may have 20,971,520


def input_items(request: Request) -> Iterator[dict[str, Any]]:
    support = MediaSupport(
        min(request.max_result_bytes, MAX_OUTPUT_CHARACTERS - 200),
        media=_FILES if request.vision else frozenset(),
        max_media_bytes=_MAX_MEDIA_BYTES,
    )
    for turn in turns(request.messages, _LEGAL_ID):
        if isinstance(turn, UserTurn):
            yield {"role": "user", "content": _question(turn, support)}
        elif isinstance(turn, AssistantTurn):
            yield from _echoed(turn) or _rewritten(turn)
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


def _echoed(turn: AssistantTurn) -> list[dict[str, Any]]:
    """The items as they came; empty when they do not fit the calls any more."""
    items = objects(turn.echo(FORMAT))
    if sum(item.get("type") == "function_call" for item in items) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    sent = [
        _echoed_call(item, next(calls)) if item.get("type") == "function_call" else item
        for item in items
        if _resendable(item)
    ]
    while sent and sent[-1].get("type") == "reasoning":  # it would wait for the item that it led to
        sent.pop()
    return sent


def _resendable(item: Mapping[str, Any]) -> bool:
    """Reasoning without its content is a mere reference to what was never stored."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _echoed_call(item: dict[str, Any], call: SentCall) -> dict[str, Any]:
    same = (item.get("call_id"), item.get("name")) == (call.id, call.name)
    if same and _is_object(item.get("arguments")):
        return item
    return {**item, "call_id": call.id, "name": call.name, "arguments": compact(call.arguments)}


def _is_object(written: Any) -> bool:
    """Whether arguments are JSON as the API takes it back: a model may have left them empty or broken."""
    try:
        return isinstance(written, str) and is_object(load(written))
    except ValueError:
        return False


def _rewritten(turn: AssistantTurn) -> Iterable[dict[str, Any]]:
    if turn.message.text.strip():
        yield {"role": "assistant", "content": turn.message.text}
    for call in turn.calls:
        arguments = compact(call.arguments)
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
