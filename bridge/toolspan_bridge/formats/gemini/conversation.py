"""A conversation as Gemini's contents: what the model gave goes back part by part, signatures in place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...messages import Request
from ..shared.conversation.history import (
    AssistantTurn,
    SentCall,
    ToolResultsTurn,
    UserTurn,
    turns,
)
from ..shared.conversation.media import PDF
from ..shared.conversation.results import (
    Media,
    MediaSupport,
    RenderedResult,
    render_parts,
    render_result,
)
from ..shared.json_values import (
    as_list,
    as_object,
    at,
    compact,
    objects,
    text,
)
from .continuation import FORMAT, without_token
from .models import Line, line

__all__ = ["contents"]

_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_AUDIO = frozenset(
    {"audio/aac", "audio/aiff", "audio/flac", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/wav"}
)
_IMAGES = frozenset({"image/jpeg", "image/png", "image/webp"})
_NONE: frozenset[str] = frozenset()
_MAX_MEDIA_BYTES = 14_000_000
_FOREIGN = "skip_thought_signature_validator"
_WHOLE_DOUBLES = 2**53


def contents(request: Request) -> Iterator[dict[str, Any]]:
    """``{"role", "parts"}`` a turn; every call's response in the content after it."""
    history = turns(request.messages, _LEGAL_ID)
    if history and isinstance(history[0], AssistantTurn):
        yield {"role": "user", "parts": [{"text": "(The conversation began earlier.)"}]}
    without_id: frozenset[str] = frozenset()
    for turn in history:
        if isinstance(turn, UserTurn):
            yield {"role": "user", "parts": [{"text": turn.text}, *_files(turn, request)]}
        elif isinstance(turn, AssistantTurn):
            parts = _echoed(turn) or _rewritten(turn, line(request.model))
            named = {text(at(part, "functionCall", "id")) for part in parts}
            without_id = frozenset(call.id for call in turn.calls if call.id not in named)
            yield {"role": "model", "parts": parts}
        else:
            yield from _results(turn, request, without_id)


def _files(turn: UserTurn, request: Request) -> Iterator[dict[str, Any]]:
    media = (_IMAGES if request.vision else _NONE) | _AUDIO | PDF
    support = MediaSupport(request.max_result_bytes, media=media, max_media_bytes=_MAX_MEDIA_BYTES)
    for part in render_parts(turn.parts, support):
        yield {"text": part} if isinstance(part, str) else _inline_data(part)


def _echoed(turn: AssistantTurn) -> list[dict[str, Any]]:
    """The parts as they came; none when they do not fit the calls any more."""
    parts = [part for part in without_token(objects(turn.echo(FORMAT))) if not _is_void(part)]
    callers = [part for part in parts if "functionCall" in part]
    if len(callers) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(part, next(calls)) if "functionCall" in part else part for part in parts]


def _is_void(part: Mapping[str, Any]) -> bool:
    """No text and nothing else; a signature alone is something."""
    return not part.get("text") and part.keys() <= {"text", "thought"}


def _echoed_call(part: dict[str, Any], call: SentCall) -> dict[str, Any]:
    original = as_object(part["functionCall"]) or {}
    named = {"id": call.id} if "id" in original else {}
    return {**part, "functionCall": {**original, **named, "name": call.name, "args": call.arguments}}


def _rewritten(turn: AssistantTurn, known: Line) -> list[dict[str, Any]]:
    """For a turn of another format. From Gemini 3 on, the first call of a turn must bear a signature."""
    parts: list[dict[str, Any]] = [{"text": turn.message.text}] if turn.message.text.strip() else []
    for place, call in enumerate(turn.calls):
        arguments = _doubles(call.arguments)
        part: dict[str, Any] = {"functionCall": {"id": call.id, "name": call.name, "args": arguments}}
        if place == 0 and (known.version is None or known.version >= (3, 0)):
            part["thoughtSignature"] = _FOREIGN
        parts.append(part)
    return parts


def _results(turn: ToolResultsTurn, request: Request, without_id: frozenset[str]) -> Iterator[dict[str, Any]]:
    """One user content with every response. Media that a response cannot hold follow in another."""
    inside = (line(request.model).version or (0, 0)) >= (3, 0)
    images = _IMAGES if request.vision else _NONE
    later = _AUDIO if inside else images | _AUDIO
    support = MediaSupport(
        request.max_result_bytes,
        media=images | _AUDIO | (PDF if inside else _NONE),
        max_media_bytes=_MAX_MEDIA_BYTES,
        structured="any",
        later=later,
    )
    responses: list[dict[str, Any]] = []
    followers: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = render_result(outcome, support)
        responses.append({"functionResponse": _response(call, shown, call.id not in without_id, later)})
        for file in (file for file in shown.media if file.mime in later):
            followers += [{"text": f"From the tool {call.name}:"}, _inline_data(file)]
    yield {"role": "user", "parts": responses}
    if followers:
        yield {"role": "user", "parts": followers}


def _response(call: SentCall, shown: RenderedResult, with_id: bool, later: frozenset[str]) -> dict[str, Any]:
    response: dict[str, Any] = {"id": call.id} if with_id else {}
    key = "error" if shown.failed else "output"
    value: dict[str, Any] = {key: shown.text if shown.structured is None else _value(shown.structured)}
    if shown.structured is not None and shown.text:
        value["text"] = shown.text
    response |= {"name": call.name, "response": value}
    inside = [_inline_data(file) for file in shown.media if file.mime not in later]
    return {**response, "parts": inside} if inside else response


def _value(structured: Any) -> Any:
    """The structured result. One with a ``$ref`` is sent as JSON text: Gemini takes it for a reference to a
    part of the response, and refuses the request when there is none.
    """
    return compact(structured) if _refers(structured) else _doubles(structured)


def _refers(value: Any) -> bool:
    if (found := as_object(value)) is not None:
        return "$ref" in found or any(map(_refers, found.values()))
    return any(map(_refers, as_list(value) or ()))


def _inline_data(file: Media) -> dict[str, Any]:
    return {"inlineData": {"mimeType": file.mime, "data": file.data}}


def _doubles(value: Any) -> Any:
    """``value`` with integers that no double holds as text: the API would round them and not say so."""
    if isinstance(value, int):
        return value if abs(value) <= _WHOLE_DOUBLES else str(value)
    if (found := as_object(value)) is not None:
        return {key: _doubles(inner) for key, inner in found.items()}
    return value if (listed := as_list(value)) is None else [_doubles(inner) for inner in listed]
