"""OpenAI Chat Completions, and every provider that speaks it.

Source: the openai 3.54.0 client's types and OpenAI's ``openapi.json`` of 2026-08-21. Schemas are sent
non-strict: keywords are hints to the model, and the arguments are validated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..messages import Reply, Request, StopReason, ToolSpec, Usage
from ._contract import Loss, WireError
from ._errors import error_body, wire_error
from ._history import Answered, Asked, Said, SentCall, turns
from ._json import as_list, as_object, at, clean_object, compact, count, objects, text
from ._replies import WireCall, call_objects, missing, read_body, reply
from ._results import Carries, Media, show
from ._tools import Prepared, prepare
from .names import NameTable
from .schemas import Plan, array_items, object_properties, object_schemas, restore_arguments

MAX_TOOLS = 128

_NAME = "openai"
_PLAN = Plan(steps=(object_schemas, array_items, object_properties))
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_STOPS: dict[str, StopReason] = {
    "content_filter": "refusal",
    "function_call": "stop",
    "length": "length",
    "stop": "stop",
    "tool_calls": "stop",
}
_QUOTA = re.compile(
    r"insufficient_quota|credit_balance_exhausted|.*_spend_limit_exceeded|organization_usage_limit_exceeded"
)


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "function": {"name", "description", "parameters", "strict": false}}]``.

    At most 128: the rest, in the order of their names, is left out and reported by ``losses``.
    """
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            },
        }
        for tool in _prepare(tools, names).tools
    ]


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/chat/completions``. ``auto`` is the default and not said."""
    body: dict[str, Any] = {"model": request.model, "messages": list(_messages(request))}
    tools = render_tools(request.tools, names)
    if tools:
        body["tools"] = tools
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.max_tokens is not None:
        body["max_completion_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return clean_object(body)


def parse_reply(body: Any) -> Reply:
    """``choices[0]``. Raises ``FormatError`` when there is no such message."""
    body = read_body(body)
    choice = next(iter(objects(body.get("choices"))), None)
    if choice is None:
        raise missing("choices", body)
    message = as_object(choice.get("message"))
    if message is None:
        raise missing("message", body)
    refusal = text(message.get("refusal"))
    calls = [
        WireCall(call.get("id"), at(call, "function", "name"), at(call, "function", "arguments"))
        for call in call_objects(message, body)
    ]
    stop = "refusal" if refusal else _STOPS.get(text(choice.get("finish_reason")), "other")
    content = _content(message.get("content")) or refusal
    return reply(content, calls, body=body, stop=stop, usage=_usage(body), format_name=_NAME)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "type", "code"}}``. An exhausted quota is a 429 that waiting does not cure."""
    answer = error_body(body)
    error = as_object(answer.get("error")) or answer
    words = [text(error.get(key)) for key in ("code", "type")]
    message = text(error.get("message")) or text(answer.get("error"))
    final = any(_QUOTA.fullmatch(word) for word in words)
    kind = next(filter(None, words), "")
    return wire_error(status, headers, body, kind=kind, message=message, final=final)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What non-strict function schemas cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_arguments(tool.schema, arguments, _PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, MAX_TOOLS)


def _messages(request: Request) -> Iterator[dict[str, Any]]:
    if request.system.strip():
        yield {"role": "system", "content": request.system}
    for turn in turns(request.messages, _LEGAL_ID):
        if isinstance(turn, Asked):
            yield {"role": "user", "content": turn.text}
        elif isinstance(turn, Said):
            yield _assistant(turn)
        else:
            yield from _results(turn, request)


def _assistant(turn: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.message.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact(call.arguments)},
            }
            for call in turn.calls
        ]
    return message


def _results(turn: Answered, request: Request) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all their images: results themselves are text only."""
    images = _IMAGES if request.vision else frozenset[str]()
    carries = Carries(request.max_result_bytes, media=images, later=images)
    parts: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = show(outcome, carries)
        yield {"role": "tool", "tool_call_id": call.id, "content": shown.marked_text}
        for image in shown.media:
            parts.extend(_image_parts(call, image))
    if parts:
        yield {"role": "user", "content": parts}


def _image_parts(call: SentCall, image: Media) -> list[dict[str, Any]]:
    url = f"data:{image.mime};base64,{image.data}"
    return [
        {"type": "text", "text": f"From the tool {call.name}:"},
        {"type": "image_url", "image_url": {"url": url}},
    ]


def _content(content: Any) -> str:
    if as_list(content) is None:
        return text(content)
    return "".join(text(part.get("text")) for part in objects(content))


def _usage(body: Mapping[str, Any]) -> Usage:
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    return Usage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(at(usage, "prompt_tokens_details", "cached_tokens")),
        reasoning_tokens=count(at(usage, "completion_tokens_details", "reasoning_tokens")),
        raw=(usage,),
    )
