"""Ollama's own ``/api/chat``.

Source: ollama v0.33.0-rc2, ``api/types.go`` and ``server/``. Its server drops most schema keywords without a
word, so references are inlined and constraints are said in descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import Reply, Request, StopReason, ToolChoice, ToolSpec, Usage
from ..names import NameTable
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.conversation.history import Answered, Asked, Said, chat_messages, turns
from ..shared.conversation.results import Carries, Media, attached, show
from ..shared.json_values import as_object, at, clean_object, count, text
from ..shared.replies.errors import error_body, wire_error
from ..shared.replies.parse import WireCall, call_objects, missing, read_body, reply
from ..shared.schemas import (
    Plan,
    array_items,
    const_to_enum,
    inline,
    keep_only,
    merge_all_of,
    object_properties,
    object_schemas,
    one_of_to_any_of,
    restore_arguments,
    tuples_as_lists,
)
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from .stream import OllamaStream

KEPT = frozenset({"anyOf", "description", "enum", "items", "properties", "required", "type"})
KEPT_AT_ROOT = frozenset({"items", "properties", "required", "type"})

BUILTINS: dict[str, dict[str, Any]] = {}

_NAME = "ollama"
_PLAN = Plan(
    steps=(
        object_schemas,
        inline,
        const_to_enum,
        one_of_to_any_of,
        merge_all_of,
        tuples_as_lists,
        keep_only(KEPT, root=KEPT_AT_ROOT, skip=frozenset({"items"})),
        array_items,
        object_properties,
    )
)
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_STOPS: dict[str, StopReason] = {"": "stop", "length": "length", "stop": "stop"}
_MUST_CALL = "Answer by calling one of the tools."
_MUST_CALL_IT = "Answer by calling the tool {}."


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"type": "function", "function": {"name", "description", "parameters"}}]``."""
    return _prepare(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /api/chat``.

    The API has no tool choice: ``none`` sends no tools, ``required`` asks for a call in the system prompt,
    and one named tool is sent alone. Whether several calls may come is not for the request to say either.
    """
    tools = [] if request.tool_choice == "none" else render_tools(request.tools, names)
    tools, instruction = _chosen(request.tool_choice, tools, names)
    system = "\n\n".join(filter(None, (request.system.strip(), instruction)))
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request, system),
        "stream": request.stream,
    }
    if tools:
        body["tools"] = tools
    wanted = {"num_predict": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["options"] = options
    return clean_object(body)


def parse_reply(body: Any) -> Reply:
    """``message``. Thinking is kept to be sent back. Raises ``FormatError`` when there is no message."""
    body = read_body(body)
    message = as_object(body.get("message"))
    if message is None:
        raise missing("message", body)
    calls = [
        WireCall(call.get("id"), at(call, "function", "name"), at(call, "function", "arguments"))
        for call in call_objects(message, body)
    ]
    thinking = text(message.get("thinking"))
    return reply(
        text(message.get("content")),
        calls,
        body=body,
        stop=_STOPS.get(text(body.get("done_reason")), "other"),
        usage=_usage(body),
        opaque={"thinking": thinking} if thinking else None,
        format_name=_NAME,
    )


def parse_stream() -> StreamParser:
    """A JSON line a piece; the last one has ``done``."""
    return OllamaStream(parse_reply, parse_error)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": "text"}``, with an address to sign in at where a cloud model needs it."""
    answer = error_body(body)
    message = text(answer.get("error")) or text(at(answer, "error", "message"))
    sign_in = text(answer.get("signin_url"))
    if sign_in:
        message = f"{message} (sign in at {sign_in})"
    kinds = {
        400: "bad_request",
        401: "unauthorized",
        404: "not_found",
        429: "rate_limited",
        503: "overloaded",
    }
    return wire_error(status, headers, body, kind=kinds.get(status, ""), message=message)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What Ollama's server would drop of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, and whole floats as integers."""
    return restore_arguments(tool.schema, arguments, _PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN)


def _tool(tool: WireTool) -> dict[str, Any]:
    """The root's own description has no slot in ``parameters``: it joins the tool's."""
    parameters = {key: value for key, value in tool.schema.items() if key != "description"}
    description = " ".join(filter(None, (tool.description, text(tool.schema.get("description")))))
    function = {"name": tool.name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _chosen(
    choice: ToolChoice, tools: list[dict[str, Any]], names: NameTable
) -> tuple[list[dict[str, Any]], str]:
    """The tools to send, and what to ask of the model so that it calls one."""
    name = must_call(choice, (tool["function"]["name"] for tool in tools), names)
    if name is not None:
        return [tool for tool in tools if tool["function"]["name"] == name], _MUST_CALL_IT.format(name)
    return tools, _MUST_CALL if tools and choice == "required" else ""


def _messages(request: Request, system: str) -> list[dict[str, Any]]:
    carries = Carries(request.max_result_bytes, media=_IMAGES if request.vision else frozenset())
    return chat_messages(
        system,
        turns(request.messages, _LEGAL_ID),
        asked=lambda turn: _user(turn, carries),
        said=_assistant,
        answered=lambda turn: _results(turn, replace(carries, later=carries.media)),
    )


def _user(turn: Asked, carries: Carries) -> dict[str, Any]:
    shown = [turn.text, *attached(turn.parts, carries)]
    said = "\n\n".join(part for part in shown if isinstance(part, str))
    pictures = [part.data for part in shown if isinstance(part, Media)]
    return {"role": "user", "content": said} | ({"images": pictures} if pictures else {})


def _assistant(turn: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.message.text}
    message |= as_object(turn.echo(_NAME)) or {}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"index": place, "name": call.name, "arguments": call.arguments}}
            for place, call in enumerate(turn.calls)
        ]
    return message


def _results(turn: Answered, carries: Carries) -> Iterator[dict[str, Any]]:
    """One message a result, then one user message with all images: few templates show them in results."""
    captions: list[str] = []
    pictures: list[str] = []
    for call, outcome in turn.results:
        shown = show(outcome, carries)
        said = shown.marked_text
        yield {"role": "tool", "tool_name": call.name, "tool_call_id": call.id, "content": said}
        captions.extend(f"From the tool {call.name}: {image.mime}" for image in shown.media)
        pictures.extend(image.data for image in shown.media)
    if pictures:
        yield {"role": "user", "content": "\n".join(captions), "images": pictures}


def _usage(body: Mapping[str, Any]) -> Usage:
    raw = {
        key: value for key, value in body.items() if key.endswith(("_count", "_duration")) and count(value)
    }
    if not raw:
        return Usage()
    return Usage(
        input_tokens=count(body.get("prompt_eval_count")),
        output_tokens=count(body.get("eval_count")),
        raw=(raw,),
    )
