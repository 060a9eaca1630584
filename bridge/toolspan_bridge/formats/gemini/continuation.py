"""A turn that reached the limit of one request: the same request with its token gives the rest of it.

Source: google-genai 3.4.0, whose client joins the answers of such requests. The token is kept with the turn's
parts until the rest of the turn has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...messages import BROKEN_STOPS, Assistant, Reply, Request
from ..shared.json_values import objects, text

__all__ = [
    "FORMAT",
    "continued",
    "cut_short",
    "is_paused",
    "joined",
    "resumed",
    "with_token",
    "without_token",
]

FORMAT = "gemini"

_TOKEN = "continuationToken"


def with_token(parts: Sequence[dict[str, Any]], token: str) -> list[dict[str, Any]]:
    """``parts`` with the token to go on with; with an empty one as they are."""
    return [*parts, {_TOKEN: token}] if token else list(parts)


def without_token(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """``parts`` as they may be sent back."""
    return [part for part in parts if _TOKEN not in part]


def is_paused(reply: Reply) -> bool:
    """Whether the turn is not at its end and can be gone on with."""
    return reply.stop == "pause" and bool(_token_of(reply.message))


def resumed(request: Request, reply: Reply) -> Request:
    """The request for the rest of the turn that ``reply`` began."""
    return replace(request, messages=(*request.messages, reply.message))


def continued(request: Request) -> tuple[Request, str]:
    """The request that ``resumed`` was given, and the token; without one, ``request`` itself."""
    last = request.messages[-1] if request.messages else None
    if not isinstance(last, Assistant) or not (token := _token_of(last)):
        return request, ""
    return replace(request, messages=request.messages[:-1]), token


def joined(first: Reply, rest: Reply) -> Reply:
    """One turn of its beginning and what came after. Its calls are kept only if it came to a proper end."""
    content = first.message.text + rest.message.text
    calls = first.message.calls + (rest.message.calls or rest.cut_calls)
    usage, attempts = first.usage + rest.usage, max(first.attempts, rest.attempts)
    notes = tuple(dict.fromkeys((*first.notes, *rest.notes)))
    moved = (source.moved(len(first.message.text)) for source in rest.message.citations)
    sources = (*first.message.citations, *moved)
    whole = replace(rest, usage=usage, attempts=attempts, notes=notes)
    if rest.incomplete or rest.stop in BROKEN_STOPS:
        message = Assistant(content, incomplete=rest.incomplete, citations=sources)
        return replace(whole, message=message, cut_calls=calls)
    parts = [*without_token(objects(first.message.opaque)), *objects(rest.message.opaque)]
    return replace(whole, message=Assistant(content, calls, parts, FORMAT, citations=sources))


def cut_short(reply: Reply) -> Reply:
    """``reply`` as a turn that ends here, though the model had more to say."""
    if not is_paused(reply):
        return reply
    return replace(reply, message=Assistant(reply.message.text), stop="length", cut_calls=reply.message.calls)


def _token_of(message: Assistant) -> str:
    parts = objects(message.opaque) if message.opaque_format == FORMAT else []
    return text(parts[-1].get(_TOKEN)) if parts else ""
