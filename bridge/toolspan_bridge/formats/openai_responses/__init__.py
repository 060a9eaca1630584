"""OpenAI Responses, without state on its side: every request carries the whole conversation.

Source: the openai 3.54.0 client's types and OpenAI's ``openapi.json`` of 2026-08-21. What the model gave is
sent back item by item, with its encrypted reasoning: a call without the reasoning before it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...messages import Reply, Request, StopReason, ToolOutcome, ToolSpec, Usage
from ..names import NameTable
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.conversation.history import Asked, Said, SentCall, turns
from ..shared.conversation.results import Carries, Media, attached, show
from ..shared.json_values import (
    as_list,
    as_object,
    at,
    clean_object,
    compact,
    count,
    is_object,
    load,
    objects,
    text,
)
from ..shared.loss_rules import loss
from ..shared.openai_errors import openai_error
from ..shared.replies.parse import WireCall, missing, read_body, reply
from ..shared.schemas import (
    OPENAI_STRICT,
    Plan,
    Unrenderable,
    array_items,
    compile_schema,
    object_properties,
    object_schemas,
)
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from ..shared.tools.compiled import restore as restore_by
from .stream import ResponsesStream, message_text

MAX_TOOLS = 128
MAX_OUTPUT_CHARACTERS = 10_485_760
MIN_OUTPUT_TOKENS = 16
BUILTINS = {"web_search": {"type": "web_search"}}

_NAME = "openai-responses"
_PLAN = Plan(steps=(object_schemas, array_items, object_properties))
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FILES = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
_MAX_MEDIA_BYTES = 15_000_000  # 20 million characters of base64; a data URL may have 20,971,520
_NOT_REASONING = re.compile(r"(?:ft:|openai/)?(?:chatgpt-|gpt-3|gpt-4|gpt-[\d.]+-chat)")
_NOT_PLAIN = frozenset({"$ref", "allOf", "anyOf", "if", "not", "oneOf"})
_UNFINISHED = ("in_progress", "incomplete")
_STOPS: dict[str, StopReason] = {"content_filter": "refusal", "max_output_tokens": "length"}


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "name", "description", "parameters", "strict", "output_schema"?}]``.

    ``strict`` is said always: without it the API would try to be. At most 128 tools.
    """
    return _prepare(tools, names).rendered(_function)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/responses``; nothing is stored there."""
    body: dict[str, Any] = {"model": request.model, "input": list(_input(request)), "store": False}
    if not _NOT_REASONING.match(request.model):
        body["include"] = ["reasoning.encrypted_content"]
    if request.system.strip():
        body["instructions"] = request.system
    functions = render_tools(request.tools, names)
    tools = [*functions, *(BUILTINS[name] for name in dict.fromkeys(request.builtins) if name in BUILTINS)]
    if tools:
        body["tools"] = tools
        body |= _choice(request, names, functions)
    if request.max_tokens is not None:
        body["max_output_tokens"] = max(request.max_tokens, MIN_OUTPUT_TOKENS)
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stream:
        body["stream"] = True
    return clean_object(body)


def parse_reply(body: Any) -> Reply:
    """``output``, its items kept to be sent back.

    Calls are set aside unless the whole answer and each of them is complete. Raises ``FormatError`` when
    there is no output.
    """
    body = read_body(body)
    given = as_list(body.get("output"))
    if given is None or body.get("status") in ("queued", "in_progress"):
        raise missing("finished output", body)
    items = objects(given)
    calls = [item for item in items if item.get("type") == "function_call"]
    incomplete = body.get("status") in ("incomplete", "cancelled")
    return reply(
        message_text(items),
        [WireCall(item.get("call_id"), item.get("name"), item.get("arguments")) for item in calls],
        body=body,
        stop=_stop(body, items) if not incomplete else _STOPS.get(_reason(body), "error"),
        usage=_usage(body),
        opaque=items or None,
        format_name=_NAME,
        aside=incomplete or any(item.get("status") in _UNFINISHED for item in calls),
    )


def parse_stream() -> StreamParser:
    """Named server-sent events; one of completed, incomplete, failed and error ends them."""
    return ResponsesStream(parse_reply)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """OpenAI's error, with the tool that it refuses where it says which."""
    return openai_error(status, headers, body)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What function schemas cannot say of ``tools``."""
    prepared = _prepare(tools, NameTable.of(tools))
    unsaid = [
        loss(tool.name, "", "output-schema", "the schema of its results is not sent")
        for tool in prepared.tools
        if tool.output_schema is not None and _output_schema(tool.output_schema) is None
    ]
    return [*prepared.losses, *unsaid]


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, whole floats as integers, and the nulls of strict mode taken out."""
    return restore_by(tool, arguments, _PLAN, OPENAI_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, MAX_TOOLS, OPENAI_STRICT)


def _function(tool: WireTool) -> dict[str, Any]:
    function: dict[str, Any] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    results = None if tool.output_schema is None else _output_schema(tool.output_schema)
    return function if results is None else {**function, "output_schema": results}


def _output_schema(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema of structured results where it is as plain as one of arguments must be: it is a hint."""
    if given.get("type") != "object" or _NOT_PLAIN & given.keys():
        return None
    try:
        return compile_schema(given, _PLAN).schema
    except Unrenderable:
        return None


def _choice(request: Request, names: NameTable, functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``auto`` and calls in parallel are the defaults, not said; a tool that is not sent cannot be forced."""
    said: dict[str, Any] = {} if request.parallel is None else {"parallel_tool_calls": request.parallel}
    choice = request.tool_choice
    if isinstance(choice, str):
        return said if choice == "auto" else {**said, "tool_choice": choice}
    name = must_call(choice, (tool["name"] for tool in functions), names)
    return said if name is None else {**said, "tool_choice": {"type": "function", "name": name}}


def _input(request: Request) -> Iterator[dict[str, Any]]:
    carries = Carries(
        min(request.max_result_bytes, MAX_OUTPUT_CHARACTERS - 200),
        media=_FILES if request.vision else frozenset(),
        max_media_bytes=_MAX_MEDIA_BYTES,
    )
    for turn in turns(request.messages, _LEGAL_ID):
        if isinstance(turn, Asked):
            yield {"role": "user", "content": _question(turn, carries)}
        elif isinstance(turn, Said):
            yield from _echoed(turn) or _rewritten(turn)
        else:
            for call, outcome in turn.results:
                output = _output(outcome, carries)
                yield {"type": "function_call_output", "call_id": call.id, "output": output}


def _question(turn: Asked, carries: Carries) -> str | list[dict[str, Any]]:
    if not turn.parts:
        return turn.text
    return [_text(turn.text), *map(_part, attached(turn.parts, carries))]


def _output(outcome: ToolOutcome, carries: Carries) -> str | list[dict[str, Any]]:
    shown = show(outcome, carries)
    if not shown.media:
        return shown.marked_text
    said = [_text(shown.marked_text)] if shown.text or shown.failed else []
    return [*said, *map(_part, shown.media)]


def _part(part: str | Media) -> dict[str, Any]:
    if isinstance(part, str):
        return _text(part)
    url = f"data:{part.mime};base64,{part.data}"
    if part.is_image:
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    name = part.name.rpartition("/")[2]
    known = name if name.lower().endswith(".pdf") else "document.pdf"
    return {"type": "input_file", "filename": known, "file_data": url}


def _text(said: str) -> dict[str, Any]:
    return {"type": "input_text", "text": said}


def _echoed(turn: Said) -> list[dict[str, Any]]:
    """The items as they came; empty when they do not fit the calls any more."""
    items = objects(turn.echo(_NAME))
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


def _rewritten(turn: Said) -> Iterable[dict[str, Any]]:
    if turn.message.text.strip():
        yield {"role": "assistant", "content": turn.message.text}
    for call in turn.calls:
        arguments = compact(call.arguments)
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _reason(body: Mapping[str, Any]) -> str:
    return text(at(body, "incomplete_details", "reason"))


def _stop(body: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> StopReason:
    refused = any(part.get("type") == "refusal" for item in items for part in objects(item.get("content")))
    return "refusal" if refused else "stop"


def _usage(body: Mapping[str, Any]) -> Usage:
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(at(usage, "input_tokens_details", "cached_tokens")),
        reasoning_tokens=count(at(usage, "output_tokens_details", "reasoning_tokens")),
        raw=(usage,),
    )
