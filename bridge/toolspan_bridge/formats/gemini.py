"""The Gemini Developer API, ``v1beta``, with schemas in ``parametersJsonSchema``.

Source: the v1beta discovery document of 2026-08-16 and google-genai 3.4.0. ``v1`` does not know
``parametersJsonSchema``. Only the keywords that its documentation lists are sent; the rest is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..messages import Reply, Request, StopReason, ToolSpec, Usage
from ._contract import Loss, WireError
from ._errors import error_body, seconds, wire_error
from ._history import Answered, Asked, Said, SentCall, turns
from ._json import as_object, at, clean_object, count, objects, text
from ._replies import WireCall, missing, read_body, reply
from ._results import Carries, Media, Shown, show
from ._tools import Prepared, WireTool, prepare
from .names import NameTable
from .schemas import (
    Plan,
    array_items,
    closed_bounds,
    const_to_enum,
    inline_awkward,
    keep_only,
    merge_all_of,
    object_schemas,
    plain_enums,
    restore_arguments,
)

MAX_TOOLS = 512
KEPT = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    }
)

_NAME = "gemini"
_PLAN = Plan(
    keys=re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    steps=(
        object_schemas,
        inline_awkward,
        const_to_enum,
        merge_all_of,
        plain_enums,
        closed_bounds,
        keep_only(KEPT),
        array_items,
    ),
)
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_PDF = frozenset({"application/pdf"})
_AUDIO = frozenset(
    {"audio/aac", "audio/aiff", "audio/flac", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/wav"}
)
_MAX_MEDIA_BYTES = 14_000_000
_NONE: frozenset[str] = frozenset()
_FOREIGN = "skip_thought_signature_validator"
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_STOPS: dict[str, StopReason] = {
    "": "stop",
    "BLOCKLIST": "refusal",
    "IMAGE_SAFETY": "refusal",
    "MAX_TOKENS": "length",
    "MODEL_ARMOR": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "RECITATION": "refusal",
    "SAFETY": "refusal",
    "SPII": "refusal",
    "STOP": "stop",
}


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}]``, at most 512."""
    declared = [
        {"name": tool.name, "description": _description(tool), "parametersJsonSchema": tool.schema}
        for tool in _prepare(tools, names).tools
    ]
    return [{"functionDeclarations": declared}] if declared else []


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1beta/models/{model}:generateContent``; the model is in the address only."""
    body: dict[str, Any] = {"contents": list(_contents(request))}
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    tools = render_tools(request.tools, names)
    if tools:
        body["tools"] = tools
        body["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[request.tool_choice]}}
    wanted = {"maxOutputTokens": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["generationConfig"] = options
    return clean_object(body)


def parse_reply(body: Any) -> Reply:
    """``candidates[0]``, its parts kept to be sent back. A blocked prompt is a refusal.

    Raises ``FormatError`` when there is neither a candidate nor a reason.
    """
    body = read_body(body)
    candidate = next(iter(objects(body.get("candidates"))), None)
    if candidate is None:
        return _blocked(body)
    finish = text(candidate.get("finishReason"))
    content = as_object(candidate.get("content"))
    if content is None and not finish:
        raise missing("content", body)
    parts = objects((content or {}).get("parts"))
    calls = [
        WireCall(call.get("id"), call.get("name"), call.get("args"))
        for part in parts
        if (call := as_object(part.get("functionCall"))) is not None
    ]
    said = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
    return reply(
        said or text(candidate.get("finishMessage")),
        calls,
        body=body,
        stop=_STOPS.get(finish, "other"),
        usage=_usage(body),
        opaque=parts or None,
        format_name=_NAME,
    )


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "status", "details"}}``, also in a list of one."""
    error = as_object(error_body(body).get("error")) or {}
    delays = [seconds(detail.get("retryDelay")) for detail in objects(error.get("details"))]
    return wire_error(
        status,
        headers,
        body,
        kind=text(error.get("status")),
        message=text(error.get("message")),
        retry_after=next((delay for delay in delays if delay is not None), None),
    )


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What ``parametersJsonSchema`` cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers: Gemini knows only doubles."""
    return restore_arguments(tool.schema, arguments, _PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, MAX_TOOLS)


def _description(tool: WireTool) -> str:
    """Never empty: the API wants one."""
    return tool.description or text(tool.schema.get("title")).strip() or tool.name


def _blocked(body: dict[str, Any]) -> Reply:
    reason = text(at(body, "promptFeedback", "blockReason"))
    if not reason:
        raise missing("candidates", body)
    why = text(at(body, "promptFeedback", "blockReasonMessage"))
    said = f"The prompt was blocked: {why or reason}"
    return reply(said, (), body=body, stop="refusal", usage=_usage(body), format_name=_NAME)


def _contents(request: Request) -> Iterator[dict[str, Any]]:
    history = turns(request.messages, _LEGAL_ID)
    if history and isinstance(history[0], Said):
        yield {"role": "user", "parts": [{"text": "(The conversation began earlier.)"}]}
    without_id: frozenset[str] = frozenset()
    for turn in history:
        if isinstance(turn, Asked):
            yield {"role": "user", "parts": [{"text": turn.text}]}
        elif isinstance(turn, Said):
            parts = _echoed(turn) or _rewritten(turn, _major(request.model))
            named = {text(at(part, "functionCall", "id")) for part in parts}
            without_id = frozenset(call.id for call in turn.calls if call.id not in named)
            yield {"role": "model", "parts": parts}
        else:
            yield from _results(turn, request, without_id)


def _echoed(turn: Said) -> list[dict[str, Any]]:
    """The parts as they came, signatures in their places; empty when they do not fit the calls any more."""
    parts = objects(turn.echo(_NAME))
    callers = [part for part in parts if "functionCall" in part]
    if len(callers) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(part, next(calls)) if "functionCall" in part else part for part in parts]


def _echoed_call(part: dict[str, Any], call: SentCall) -> dict[str, Any]:
    original = as_object(part["functionCall"]) or {}
    named = {"id": call.id} if "id" in original else {}
    return {**part, "functionCall": {**original, **named, "name": call.name, "args": call.arguments}}


def _rewritten(turn: Said, major: int | None) -> list[dict[str, Any]]:
    """For a turn of another format. From Gemini 3 on, the first call of a turn must bear a signature."""
    parts: list[dict[str, Any]] = [{"text": turn.message.text}] if turn.message.text.strip() else []
    for place, call in enumerate(turn.calls):
        part: dict[str, Any] = {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
        if place == 0 and (major is None or major >= 3):
            part["thoughtSignature"] = _FOREIGN
        parts.append(part)
    return parts


def _results(turn: Answered, request: Request, without_id: frozenset[str]) -> Iterator[dict[str, Any]]:
    """One user content with every response. Media that a response cannot hold follow in another."""
    inside = (_major(request.model) or 0) >= 3
    images = _IMAGES if request.vision else _NONE
    later = _AUDIO if inside else images | _AUDIO
    carries = Carries(
        request.max_result_bytes,
        media=images | _AUDIO | (_PDF if inside else _NONE),
        max_media_bytes=_MAX_MEDIA_BYTES,
        structured="any",
        later=later,
    )
    responses: list[dict[str, Any]] = []
    followers: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = show(outcome, carries)
        responses.append({"functionResponse": _response(call, shown, call.id not in without_id, later)})
        for file in (file for file in shown.media if file.mime in later):
            followers += [{"text": f"From the tool {call.name}:"}, _inline_data(file)]
    yield {"role": "user", "parts": responses}
    if followers:
        yield {"role": "user", "parts": followers}


def _response(call: SentCall, shown: Shown, with_id: bool, later: frozenset[str]) -> dict[str, Any]:
    response: dict[str, Any] = {"id": call.id} if with_id else {}
    key = "error" if shown.failed else "output"
    value: dict[str, Any] = {key: shown.text if shown.structured is None else shown.structured}
    if shown.structured is not None and shown.text:
        value["text"] = shown.text
    response |= {"name": call.name, "response": value}
    inside = [_inline_data(file) for file in shown.media if file.mime not in later]
    return {**response, "parts": inside} if inside else response


def _inline_data(file: Media) -> dict[str, Any]:
    return {"inlineData": {"mimeType": file.mime, "data": file.data}}


def _major(model: str) -> int | None:
    """The generation that the model's name tells: 3 for ``gemini-3-pro``."""
    told = re.search(r"gemini-(\d+)", model)
    return int(told[1]) if told else None


def _usage(body: Mapping[str, Any]) -> Usage:
    usage = as_object(body.get("usageMetadata"))
    if usage is None:
        return Usage()
    thoughts = count(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount")),
        output_tokens=count(usage.get("candidatesTokenCount")) + thoughts,
        cached_tokens=count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
        raw=(usage,),
    )
