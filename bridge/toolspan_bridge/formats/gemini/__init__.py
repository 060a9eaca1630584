"""Gemini, ``v1beta``, with schemas in ``parametersJsonSchema``; Vertex AI speaks it too.

Source: the v1beta discovery document of 2026-08-16 and google-genai 3.4.0. ``v1`` does not know
``parametersJsonSchema``. Only the keywords that its documentation lists are sent; the rest is described.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Reply, Request, StopReason, ToolSpec, Usage
from ..names import NameTable
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.json_values import as_object, clean_object, compact, count, objects, text
from ..shared.replies.errors import error_body, seconds, wire_error
from ..shared.replies.parse import WireCall, missing, read_body, reply
from ..shared.schemas import (
    Plan,
    array_items,
    closed_bounds,
    const_to_enum,
    inline_awkward,
    keep_only,
    merge_all_of,
    object_schemas,
    plain_enums,
    wide_integers,
)
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from ..shared.tools.compiled import restore as restore_by
from .contents import FORMAT, contents, generation
from .stream import GeminiStream, instead_of_words

MAX_TOOLS = 512
BUILTINS: dict[str, dict[str, Any]] = {"web_search": {"googleSearch": {}}}
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

_PLAN = Plan(
    keys=re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    steps=(
        object_schemas,
        inline_awkward,
        const_to_enum,
        merge_all_of,
        plain_enums,
        closed_bounds,
        wide_integers,
        keep_only(KEPT),
        array_items,
    ),
)
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_STOPS: dict[str, StopReason] = {
    "": "stop",
    "BLOCKLIST": "refusal",
    "CONTINUATION": "length",
    "ESCALATION": "refusal",
    "IMAGE_OTHER": "error",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "IMAGE_SAFETY": "refusal",
    "LANGUAGE": "error",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "MAX_TOKENS": "length",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "MODEL_ARMOR": "refusal",
    "NO_IMAGE": "error",
    "OTHER": "error",
    "PROHIBITED_CONTENT": "refusal",
    "PUP_LIMITED_DISABLED": "refusal",
    "RECITATION": "refusal",
    "SAFETY": "refusal",
    "SPII": "refusal",
    "STOP": "stop",
    "TOO_MANY_TOOL_CALLS": "error",
    "UNEXPECTED_TOOL_CALL": "malformed",
}
_DECLARED = re.compile(r"function_?declarations?\[(\d{1,4})\]", re.IGNORECASE)
_NAMED = re.compile(r"[Dd]uplicate function declaration(?: found)?:? '?([A-Za-z0-9_.:-]{1,128})")


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}]``, at most 512."""
    declared = _prepare(tools, names).rendered(_declaration)
    return [{"functionDeclarations": declared}] if declared else []


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST …/models/{model}:generateContent`` and ``:streamGenerateContent``.

    The model, and whether the answer is streamed, are in the address only.
    """
    body: dict[str, Any] = {"contents": list(contents(request))}
    if request.system.strip():
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    functions = render_tools(request.tools, names)
    builtins = [BUILTINS[name] for name in dict.fromkeys(request.builtins) if name in BUILTINS]
    mixed = bool(functions and builtins) and mixes(request.model)
    if functions:
        shown = {"includeServerSideToolInvocations": True} if mixed else {}
        body["toolConfig"] = {"functionCallingConfig": _choice(request, names, functions, mixed), **shown}
    if tools := functions + (builtins if mixed or not functions else []):
        body["tools"] = tools
    wanted = {"maxOutputTokens": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["generationConfig"] = options
    return clean_object(body)


def mixes(model: str) -> bool:
    """Whether ``model`` takes functions and built-in tools in one request; older ones refuse it (400).

    A model whose name does not tell its generation counts as older: then the functions alone are sent.
    """
    return (generation(model) or 0) >= 3


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
        said or instead_of_words(body),
        calls,
        body=body,
        stop=_STOPS.get(finish, "other"),
        usage=_usage(body),
        opaque=parts or None,
        format_name=FORMAT,
    )


def parse_stream() -> StreamParser:
    """Parts of an answer, to the one that says why it ends and what it used."""
    return GeminiStream(parse_reply, _error_in_stream)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "status", "details"}}``, also in a list of one.

    A refused tool is named by its place (``function_declarations[3]``), or as a duplicate by its name.
    """
    error = as_object(error_body(body).get("error")) or {}
    delays = [seconds(detail.get("retryDelay")) for detail in objects(error.get("details"))]
    message = text(error.get("message"))
    read = wire_error(
        status,
        headers,
        body,
        kind=text(error.get("status")),
        message=message,
        retry_after=next((delay for delay in delays if delay is not None), None),
    )
    return replace(read, tool=_refused_tool(message)) if status == 400 else read


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What ``parametersJsonSchema`` cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers: Gemini knows only doubles."""
    return restore_by(tool, arguments, _PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, MAX_TOOLS)


def _declaration(tool: WireTool) -> dict[str, Any]:
    """A description is never empty: the API wants one."""
    said = tool.description or text(tool.schema.get("title")).strip() or tool.name
    return {"name": tool.name, "description": said, "parametersJsonSchema": tool.schema}


def _choice(
    request: Request, names: NameTable, functions: Sequence[dict[str, Any]], mixed: bool
) -> dict[str, Any]:
    """The mode of calling. Beside built-in tools there is no ``AUTO``: ``VALIDATED`` is text or a call."""
    sent = (text(entry.get("name")) for entry in functions[0]["functionDeclarations"])
    if (name := must_call(request.tool_choice, sent, names)) is not None:
        return {"mode": "ANY", "allowedFunctionNames": [name]}
    mode = _MODES[request.tool_choice if isinstance(request.tool_choice, str) else "auto"]
    return {"mode": "VALIDATED" if mixed and mode == "AUTO" else mode}


def _refused_tool(message: str) -> str | int | None:
    named, place = _NAMED.search(message), _DECLARED.search(message)
    return named[1] if named else int(place[1]) if place else None


def _error_in_stream(error: dict[str, Any]) -> WireError:
    """An error after HTTP 200, by the status that it would have had."""
    code = count(error.get("code"))
    status = code if 400 <= code < 600 else 500
    return parse_error(status, {}, compact({"error": error}).encode("utf-8", "replace"))


def _blocked(body: dict[str, Any]) -> Reply:
    said = instead_of_words(body)
    if not said:
        raise missing("candidates", body)
    return reply(said, (), body=body, stop="refusal", usage=_usage(body), format_name=FORMAT)


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
