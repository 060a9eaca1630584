"""Amazon Bedrock's Converse: one shape for many vendors' models.

Source: botocore 1.44.5, the service model of ``bedrock-runtime``. Schemas are made fit for Claude, whose
rules are the narrowest. Images and documents are base64, as the REST API takes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Assistant, Reply, Request, StopReason, ToolSpec, Usage
from ._contract import Loss, WireError
from ._errors import error_body, wire_error
from ._history import Answered, Asked, Said, SentCall, Turn, turns
from ._json import as_object, at, clean_object, compact, count, objects, text
from ._replies import WireCall, missing, read_body, reply
from ._results import NO_OUTPUT, Carries, Media, Room, Shown, show
from ._tools import Prepared, WireTool, prepare
from .names import NameTable
from .schemas import Plan, restore_arguments

_NAME = "bedrock"
_PLAN = Plan(keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"))
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_PDF = frozenset({"application/pdf"})
_MAX_IMAGES = 20
_MAX_DOCUMENTS = 5
_MAX_MEDIA_BYTES = 3_750_000
_NO_CALLS = "Answer in words now, without calling a tool."
_CHOICES: dict[str, dict[str, Any]] = {"auto": {"auto": {}}, "none": {"auto": {}}, "required": {"any": {}}}
_STOPS: dict[str, StopReason] = {
    "content_filtered": "refusal",
    "end_turn": "stop",
    "guardrail_intervened": "refusal",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop",
    "tool_use": "stop",
}
_RETRYABLE = frozenset({"InternalServerException", "ModelNotReadyException", "ModelTimeoutException"})


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"toolSpec": {"name", "description"?, "inputSchema": {"json"}}}]``, for ``toolConfig.tools``."""
    return [{"toolSpec": _tool(tool)} for tool in _prepare(tools, names).tools]


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/converse``; the model is in the address only.

    There is no tool choice ``none``, and tool blocks in the history need a ``toolConfig``: so ``none`` keeps
    the tools and asks for words in the system prompt, and without any tools past calls are told as text. A
    model may still call; whoever asked for none must not carry that out.
    """
    tools = render_tools(request.tools, names)
    history = turns(request.messages, _LEGAL_ID)
    messages = _messages(history if tools else _as_text(history, request), request)
    body: dict[str, Any] = {"messages": messages}
    no_calls = _NO_CALLS if tools and request.tool_choice == "none" else ""
    system = [said for said in (request.system, no_calls) if said.strip()]
    if system:
        body["system"] = [{"text": said} for said in system]
    wanted = {"maxTokens": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["inferenceConfig"] = options
    if tools:
        body["toolConfig"] = {"tools": tools, "toolChoice": _CHOICES[request.tool_choice]}
    return clean_object(body)


def parse_reply(body: Any) -> Reply:
    """``output.message``, its blocks kept to be sent back. Raises ``FormatError`` when there is none."""
    body = read_body(body)
    message = as_object(at(body, "output", "message"))
    if message is None:
        raise missing("output message", body)
    blocks = objects(message.get("content"))
    calls = [
        WireCall(use.get("toolUseId"), use.get("name"), use.get("input"))
        for block in blocks
        if (use := _own_call(block)) is not None
    ]
    return reply(
        "".join(text(block.get("text")) for block in blocks),
        calls,
        body=body,
        stop=_STOPS.get(text(body.get("stopReason")), "other"),
        usage=_usage(body),
        opaque=blocks or None,
        format_name=_NAME,
    )


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """The exception's name from the header or the body, and its message.

    A model's own error (424) may be tried again when the status behind it may.
    """
    answer = error_body(body)
    lower = {name.lower(): value for name, value in headers.items()}
    named = lower.get("x-amzn-errortype") or text(answer.get("__type")) or text(answer.get("code"))
    kind = named.split("#")[-1].split(":")[0].strip()
    behind = count(answer.get("originalStatusCode"))
    again = kind in _RETRYABLE or (status == 424 and (behind == 429 or behind >= 500))
    message = text(answer.get("message")) or text(answer.get("Message"))
    return wire_error(status, headers, body, kind=kind, message=message, retryable=again)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What Claude's rules for schemas do not allow of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers."""
    return restore_arguments(tool.schema, arguments, _PLAN)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN)


def _tool(tool: WireTool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **described, "inputSchema": {"json": tool.schema}}


def _messages(history: Sequence[Turn], request: Request) -> list[dict[str, Any]]:
    """User and assistant in turn, the user first: neighbours with the same role are one message."""
    messages: list[dict[str, Any]] = []
    for turn in history:
        role, blocks = _blocks(turn, request)
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [{"text": "(The conversation began earlier.)"}]})
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": blocks})
    return messages


def _blocks(turn: Turn, request: Request) -> tuple[str, list[dict[str, Any]]]:
    if isinstance(turn, Asked):
        return "user", [{"text": turn.text}]
    if isinstance(turn, Said):
        return "assistant", _echoed(turn) or _rewritten(turn)
    return "user", _results(turn, request)


def _echoed(turn: Said) -> list[dict[str, Any]]:
    """The blocks as they came; empty when they do not fit the calls any more. Blank text is refused."""
    blocks = [
        block for block in objects(turn.echo(_NAME)) if "text" not in block or text(block["text"]).strip()
    ]
    if sum(_own_call(block) is not None for block in blocks) != len(turn.calls):
        return []
    calls = iter(turn.calls)
    return [_echoed_call(block, next(calls)) if _own_call(block) is not None else block for block in blocks]


def _echoed_call(block: dict[str, Any], call: SentCall) -> dict[str, Any]:
    use = {**block["toolUse"], "toolUseId": call.id, "name": call.name, "input": call.arguments}
    return {**block, "toolUse": use}


def _rewritten(turn: Said) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"text": turn.message.text}] if turn.message.text.strip() else []
    for call in turn.calls:
        blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
    return blocks


def _results(turn: Answered, request: Request) -> list[dict[str, Any]]:
    """One block a result, before anything else. A message with a document needs a text beside it."""
    carries = _carries(request)
    blocks = [_result(call, show(outcome, carries)) for call, outcome in turn.results]
    with_document = any("document" in part for block in blocks for part in block["toolResult"]["content"])
    return [*blocks, {"text": "Documents are in the results above."}] if with_document else blocks


def _result(call: SentCall, shown: Shown) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if shown.text or shown.failed:
        content.append({"text": shown.marked_text})
    if shown.structured is not None:
        content.append({"json": shown.structured})
    content.extend(_media(call, file, place) for place, file in enumerate(shown.media))
    status = "error" if shown.failed else "success"
    content = content or [{"text": NO_OUTPUT}]
    return {"toolResult": {"toolUseId": call.id, "content": content, "status": status}}


def _media(call: SentCall, file: Media, place: int) -> dict[str, Any]:
    kind = file.mime.partition("/")[2]
    if file.is_image:
        return {"image": {"format": kind, "source": {"bytes": file.data}}}
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{call.id}-{place}").strip("-")
    return {"document": {"format": kind, "name": f"document {name}", "source": {"bytes": file.data}}}


def _carries(request: Request) -> Carries:
    room = {"application/pdf": _MAX_DOCUMENTS} | ({"image/": _MAX_IMAGES} if request.vision else {})
    return Carries(
        request.max_result_bytes,
        media=(_IMAGES if request.vision else frozenset[str]()) | _PDF,
        max_media_bytes=_MAX_MEDIA_BYTES,
        room=Room(room),
        structured="object",
        later=_PDF,
    )


def _as_text(history: Sequence[Turn], request: Request) -> list[Turn]:
    """Past calls and results told in words."""
    told: list[Turn] = []
    for turn in history:
        if isinstance(turn, Said) and turn.calls:
            calls = (f"[called {call.name} with {compact(call.arguments)}]" for call in turn.calls)
            said = "\n".join(filter(None, (turn.message.text.strip(), *calls)))
            told.append(Said(Assistant(said), ()))
        elif isinstance(turn, Answered):
            carries = Carries(request.max_result_bytes)
            shown = ((call, show(outcome, carries)) for call, outcome in turn.results)
            told.append(Asked("\n".join(f"[{call.name} gave] {found.marked_text}" for call, found in shown)))
        else:
            told.append(turn)
    return told


def _own_call(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """The call in the block, unless the provider carries it out itself."""
    use = as_object(block.get("toolUse"))
    return None if use is None or use.get("type") == "server_tool_use" else use


def _usage(body: Mapping[str, Any]) -> Usage:
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    cached = count(usage.get("cacheReadInputTokens"))
    written = count(usage.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=count(usage.get("inputTokens")) + cached + written,
        output_tokens=count(usage.get("outputTokens")),
        cached_tokens=cached,
        raw=(usage,),
    )
