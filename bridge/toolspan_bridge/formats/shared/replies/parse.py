"""Converts a provider's answer to a ``Reply``: arguments parsed, ids made unique, cut calls set aside."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ....messages import (
    BROKEN_STOPS,
    Assistant,
    Citation,
    Json,
    Reply,
    StopReason,
    ToolCall,
    Usage,
)
from ..contract import FormatError, StreamFailed
from ..json_values import (
    MAX_NESTING,
    as_list,
    as_object,
    at,
    clean,
    clean_object,
    compact,
    is_surely_clean,
    load,
    may_be_deep,
    nesting,
    objects,
    snippet,
    text,
)
from .errors import error_for_answer


@dataclass(frozen=True, slots=True)
class WireCall:
    """A call as the provider sent it, unvalidated. ``opaque`` is state of it to be sent back."""

    id: Any
    name: Any
    arguments: Any
    opaque: Json = None


def read_body(body: Any) -> dict[str, Any]:
    """The JSON object of an answer, given decoded or as text.

    Raises ``FormatError`` with a snippet, ``StreamFailed`` when it is an error in spite of HTTP 200.
    """
    source = body if isinstance(body, bytes) else None
    if isinstance(body, str | bytes):
        if not body.strip():
            raise FormatError("the answer is empty")
        try:
            body = load(body)
        except ValueError:
            raise FormatError(f"the answer is not JSON: {snippet(body)}") from None
    found = as_object(body)
    if found is None:
        raise FormatError(f"the answer is not a JSON object: {snippet(body)}")
    if (source is None or may_be_deep(source)) and nesting(found) > MAX_NESTING:
        raise FormatError(f"the answer is nested deeper than {MAX_NESTING} levels")
    if found.get("error"):
        raise StreamFailed(error_for_answer(found["error"]))
    return found if source is not None and is_surely_clean(source) else clean_object(found)


def missing(what: str, body: dict[str, Any]) -> FormatError:
    """The error for an answer without a required part."""
    return FormatError(f"the answer has no {what}: {snippet(compact(body))}")


def chat_calls(message: dict[str, Any], body: dict[str, Any]) -> list[WireCall]:
    """The ``tool_calls`` of a chat message, each ``{"id", "function": {"name", "arguments"}}``, with the
    ``extra_content`` that some providers want back.

    Raises ``FormatError`` for one that cannot be read.
    """
    given = message.get("tool_calls")
    calls = objects(given)
    if given and len(calls) != len(as_list(given) or [None]):
        raise missing("readable tool_calls", body)
    return [
        WireCall(
            call.get("id"),
            at(call, "function", "name"),
            at(call, "function", "arguments"),
            call.get("extra_content") or None,
        )
        for call in calls
    ]


def reply(
    content: str,
    calls: Sequence[WireCall],
    *,
    body: dict[str, Any],
    stop: StopReason,
    usage: Usage,
    opaque: Json = None,
    format_name: str,
    aside: bool = False,
    citations: Sequence[Citation] = (),
) -> Reply:
    """The whole answer. A turn that was truncated or broke off keeps its text; its calls are ``cut_calls``.

    ``aside``: the calls of this turn must not be run for another reason.
    """
    read = tuple(_read_calls(calls, body))
    sources = tuple(citations)
    if (aside or stop in BROKEN_STOPS) and read:
        return Reply(Assistant(content, citations=sources), stop, usage, cut_calls=read)
    has_state = opaque is not None or any(call.opaque is not None for call in read)
    state = format_name if has_state else ""
    return Reply(Assistant(content, read, opaque, state, citations=sources), stop, usage)


def read_arguments(given: Any) -> tuple[dict[str, Any] | None, str]:
    """The arguments as an object, or ``None`` and the reason. Accepts an object, its JSON, or that as a
    string.
    """
    for _ in range(2):
        if not isinstance(given, str):
            break
        try:
            given = load(given) if given.strip() else {}
        except ValueError as error:
            return None, f"the arguments are not valid JSON: {error}"
    if given is None:
        return {}, ""
    arguments = as_object(given)
    if arguments is None:
        return None, f"the arguments are a JSON {_kind(given)}, not an object"
    if nesting(arguments) > MAX_NESTING:
        return None, f"the arguments are nested deeper than {MAX_NESTING} levels"
    return clean_object(arguments), ""


def _read_calls(calls: Sequence[WireCall], body: dict[str, Any]) -> list[ToolCall]:
    used: set[str] = set()
    read: list[ToolCall] = []
    whole = cache(lambda: hashlib.sha256(compact(body).encode()).digest())
    for place, call in enumerate(calls):
        call_id = text(call.id)
        if not call_id or call_id in used:
            call_id = _minted(whole(), place)
        used.add(call_id)
        arguments, malformed = read_arguments(call.arguments)
        raw = call.arguments if isinstance(call.arguments, str) else compact(call.arguments)
        read.append(ToolCall(call_id, text(call.name), arguments, clean(raw), malformed, call.opaque))
    return read


def _minted(whole: bytes, place: int) -> str:
    return f"call_{hashlib.sha256(whole + str(place).encode()).hexdigest()[:24]}"


def _kind(value: Any) -> str:
    kinds = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "value")
