"""Converts a provider's answer to a ``Reply``: arguments parsed, each call once, cut calls set aside."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    TooManyValues,
    as_list,
    as_object,
    at,
    clean,
    clean_object,
    compact,
    is_surely_clean,
    load,
    load_nearly,
    may_be_deep,
    nesting,
    objects,
    snippet,
    text,
)
from .errors import error_for_answer, error_in_answer
from .thoughts import without_thoughts

NO_ID = "null"
"""The id of a call that was given none, in Mistral's types (mistralai 3.7.0, ``models/toolcall.py``)."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """A call as the provider sent it, unvalidated. ``opaque`` is state of it to be sent back; ``fault`` says
    why its arguments, here as they were written, cannot be read."""

    id: Any
    name: Any
    arguments: Any
    opaque: Json = None
    fault: str = ""


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
        except TooManyValues as excess:
            raise FormatError(f"the answer {excess}") from None
        except ValueError:
            raise FormatError(f"the answer is not JSON: {snippet(body)}") from None
    listed = as_list(body) or ()
    found = as_object(listed[0] if len(listed) == 1 else body)
    if found is None:
        raise FormatError(f"the answer is not a JSON object: {snippet(body)}")
    if (source is None or may_be_deep(source)) and nesting(found) > MAX_NESTING:
        raise FormatError(f"the answer is nested deeper than {MAX_NESTING} levels")
    if (error := error_in_answer(found)) is not None:
        raise StreamFailed(error_for_answer(error))
    return found if source is not None and is_surely_clean(source) else clean_object(found)


def missing(what: str, body: dict[str, Any]) -> FormatError:
    """The error for an answer without a required part."""
    return FormatError(f"the answer has no {what}: {snippet(compact(body))}")


def chat_calls(message: dict[str, Any], body: dict[str, Any]) -> list[WireCall]:
    """The ``tool_calls`` of a chat message, each ``{"id", "function": {"name", "arguments"}}``, with the
    ``extra_content`` that some providers want back.

    Empty ones, as some servers send beside a text, are left out. Raises ``FormatError`` for one that cannot
    be read.
    """
    given = calls_in(message)
    calls = objects(given)
    if given and len(calls) != len(as_list(given) or [None]):
        raise missing("readable tool_calls", body)
    read = [
        WireCall(
            call.get("id"),
            at(call, "function", "name"),
            at(call, "function", "arguments"),
            call.get("extra_content") or None,
        )
        for call in calls
    ]
    return [call for call in read if not is_empty(call)]


def calls_in(message: dict[str, Any]) -> Any:
    """The ``tool_calls`` of a chat message or a delta, as a list also where there is one without a list, and
    where it is the ``function_call`` of the API before."""
    given = message.get("tool_calls")
    if not given and (called := as_object(message.get("function_call"))):
        return [{"function": called}]
    return [given] if text(at(given, "function", "name")) else given


def is_empty(call: WireCall) -> bool:
    """Whether a call says nothing: neither what to call, nor with what."""
    return not text(call.name).strip() and call.arguments in (None, "", "{}", {})


def reply(
    content: str,
    calls: Sequence[WireCall],
    *,
    body: dict[str, Any],
    stop: StopReason,
    usage: Usage,
    finish: str = "",
    opaque: Json = None,
    format_name: str,
    aside: bool = False,
    citations: Sequence[Citation] = (),
    is_split: bool = False,
) -> Reply:
    """The whole answer. A turn that was truncated or broke off keeps its text; its calls are ``cut_calls``.

    Thoughts that stand in ``content`` in tags are no part of it, unless it ``is_split``: they were told from
    it before.

    A call whose id came before is the same call, which is made once. Where it is a different one, nobody
    knows what the provider meant: the turn is malformed. ``aside``: the calls of this turn must not be run
    for another reason. ``finish`` is the provider's word for ``stop``.
    """
    every = _read_calls(calls, body)
    read, twice = distinct_calls(every)
    said = content if is_split else without_thoughts(content)
    sources = tuple(placed(source, content, said) for source in citations)
    only_thought = bool(content.strip()) and not said.strip()
    content = said
    if twice:
        trouble = f"the provider gave different calls the same id {twice!r}"
        return Reply(Assistant(content, citations=sources), "malformed", usage, every, trouble=trouble)
    unknown = f"The provider ended its answer for a reason that is not known here: {snippet(finish, 60)!r}."
    notes = (unknown,) if finish and stop == "other" else ()
    if (aside or stop in BROKEN_STOPS) and read:
        message = Assistant(content, citations=sources)
        return Reply(message, stop, usage, cut_calls=read, notes=notes, finish=finish)
    if len(read) < len(every):
        opaque = None  # it holds the repeated call, which no provider takes back
    has_state = opaque is not None or any(call.opaque is not None for call in read)
    state = format_name if has_state else ""
    message = Assistant(content, read, opaque, state, citations=sources)
    return Reply(message, stop, usage, notes=notes, finish=finish, only_thought=only_thought)


def placed(source: Citation, before: str, after: str) -> Citation:
    """``source`` of the text ``before``, in the text ``after``, which may lack parts of it."""
    if source.start is None or source.end is None or before == after:
        return source
    start = after.find(before[source.start : source.end])
    if start < 0:
        return replace(source, start=None, end=None)
    return replace(source, start=start, end=start + source.end - source.start)


def read_arguments(given: Any) -> tuple[dict[str, Any] | None, str]:
    """The arguments as an object, or ``None`` and the reason. Accepts an object, its JSON (as ``load_nearly``
    reads it), or that as a string.
    """
    for _ in range(2):
        if not isinstance(given, str):
            break
        try:
            given = load_nearly(given) if given.strip() else {}
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


def distinct_calls(calls: Sequence[ToolCall]) -> tuple[tuple[ToolCall, ...], str]:
    """``calls``, each of them once, and an id that two different ones have; empty where none is."""
    known: dict[str, ToolCall] = {}
    for call in calls:
        if not is_same_call(known.setdefault(call.id, call), call):
            return tuple(known.values()), call.id
    return tuple(known.values()), ""


def is_same_call(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls with one id are one: of the same tool, with equal arguments."""
    equal = one.arguments == other.arguments and (one.arguments is not None or one.raw == other.raw)
    return one.name == other.name and equal


def _read_calls(calls: Sequence[WireCall], body: dict[str, Any]) -> tuple[ToolCall, ...]:
    whole = cache(lambda: hashlib.sha256(compact(body).encode()).digest())
    read: list[ToolCall] = []
    for place, call in enumerate(calls):
        arguments, malformed = (None, call.fault) if call.fault else read_arguments(call.arguments)
        raw = call.arguments if isinstance(call.arguments, str) else compact(call.arguments)
        call_id = text(call.id) if call.id != NO_ID else ""
        call_id = call_id or _minted(whole(), place)
        read.append(ToolCall(call_id, text(call.name), arguments, clean(raw), malformed, call.opaque))
    return tuple(read)


def _minted(whole: bytes, place: int) -> str:
    return f"call_{hashlib.sha256(whole + str(place).encode()).hexdigest()[:24]}"


def _kind(value: Any) -> str:
    kinds = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "value")
