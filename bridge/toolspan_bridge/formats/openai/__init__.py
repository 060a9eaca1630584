"""OpenAI Chat Completions, and every provider that speaks it.

Source: the openai 3.54.0 client's types and OpenAI's ``openapi.json`` of 2026-08-21. Schemas are sent
non-strict: keywords are hints to the model, and the arguments are validated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Reply, Request, StopReason, ToolSpec, Usage
from ..names import NameTable
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.conversation.history import Answered, Asked, Said, chat_messages, turns
from ..shared.conversation.results import Carries, Media, attached, show
from ..shared.json_values import as_object, at, clean_object, compact, count, objects, text
from ..shared.openai_errors import openai_error
from ..shared.replies.parse import WireCall, call_objects, missing, read_body, reply
from ..shared.schemas import OPENAI_STRICT, Plan, array_items, object_properties, object_schemas
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from ..shared.tools.compiled import restore as restore_tool
from .stream import ChatStream, content_text

MAX_TOOLS = 128
BUILTINS: dict[str, dict[str, Any]] = {"web_search": {"web_search_options": {}}}

_NAME = "openai"
_PLAN = Plan(steps=(object_schemas, array_items, object_properties))
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_SOUNDS = {
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
}
_STOPS: dict[str, StopReason] = {
    "abort": "error",
    "content_filter": "refusal",
    "error": "error",
    "function_call": "stop",
    "insufficient_system_resource": "error",
    "length": "length",
    "model_length": "length",
    "stop": "stop",
    "tool_calls": "stop",
}


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "function": {"name", "description", "parameters", "strict"}}]``.

    Strict only where a tool asks for it and nothing is lost. At most 128: the rest, in the order of their
    names, is left out and reported by ``losses``.
    """
    return _prepare(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /v1/chat/completions``. ``auto`` is the default and not said."""
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request)}
    tools = render_tools(request.tools, names)
    if tools:
        body["tools"] = tools
        if (choice := _choice(request, names, tools)) is not None:
            body["tool_choice"] = choice
        if request.parallel is not None:
            body["parallel_tool_calls"] = request.parallel
    for name in request.builtins:
        body |= BUILTINS.get(name, {})
    if request.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
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
    content = content_text(message.get("content")) or refusal
    return reply(content, calls, body=body, stop=stop, usage=_usage(body), format_name=_NAME)


def parse_stream() -> StreamParser:
    """Chunks of Server-Sent Events, to ``[DONE]``."""
    return ChatStream(parse_reply, parse_error)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "type", "code"}}``. An exhausted quota is a 429 that waiting does not cure."""
    return openai_error(status, headers, body)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What non-strict function schemas cannot say of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_tool(tool, arguments, _PLAN, OPENAI_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, MAX_TOOLS, OPENAI_STRICT)


def _tool(tool: WireTool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    return {"type": "function", "function": function}


def _choice(request: Request, names: NameTable, sent: Sequence[dict[str, Any]]) -> Any:
    """What to say of the choice of tools; ``None`` for the default."""
    if isinstance(request.tool_choice, str):
        return None if request.tool_choice == "auto" else request.tool_choice
    name = must_call(request.tool_choice, (text(at(tool, "function", "name")) for tool in sent), names)
    return None if name is None else {"type": "function", "function": {"name": name}}


def _messages(request: Request) -> list[dict[str, Any]]:
    carries = _carries(request)
    return chat_messages(
        request.system,
        turns(request.messages, _LEGAL_ID),
        asked=lambda turn: _user(turn, carries),
        said=_assistant,
        answered=lambda turn: _results(turn, replace(carries, later=carries.media)),
    )


def _carries(request: Request) -> Carries:
    images = _IMAGES if request.vision else frozenset[str]()
    sounds = frozenset(_SOUNDS) if request.audio else frozenset[str]()
    return Carries(request.max_result_bytes, media=images | sounds)


def _user(turn: Asked, carries: Carries) -> dict[str, Any]:
    """One string, unless files come with it."""
    shown = [turn.text, *attached(turn.parts, carries)]
    words = [part for part in shown if isinstance(part, str)]
    if len(words) == len(shown):
        return {"role": "user", "content": "\n\n".join(words)}
    parts = [_text_part(part) if isinstance(part, str) else _media_part(part) for part in shown]
    return {"role": "user", "content": parts}


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


def _results(turn: Answered, carries: Carries) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all their files: results themselves are text only."""
    parts: list[dict[str, Any]] = []
    for call, outcome in turn.results:
        shown = show(outcome, carries)
        yield {"role": "tool", "tool_call_id": call.id, "content": shown.marked_text}
        for media in shown.media:
            parts += [_text_part(f"From the tool {call.name}:"), _media_part(media)]
    if parts:
        yield {"role": "user", "content": parts}


def _text_part(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def _media_part(media: Media) -> dict[str, Any]:
    if media.is_image:
        return {"type": "image_url", "image_url": {"url": f"data:{media.mime};base64,{media.data}"}}
    return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[media.mime]}}


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
