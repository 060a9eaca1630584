"""Amazon Bedrock's Converse: one shape for many vendors' models.

Source: botocore 1.44.5, the service model of ``bedrock-runtime``. Schemas are made fit for Claude, whose
rules are the narrowest. Images and documents are base64, as the REST API takes them. There is no switch for
parallel calls, and none of the providers' own tools.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Assistant, Reply, Request, StopReason, ToolSpec, Usage
from ..names import NameTable
from ..shared.bedrock_errors import bedrock_error
from ..shared.contract import Loss, StreamParser, WireError
from ..shared.conversation.alternating import alternating, as_text
from ..shared.conversation.history import Answered, Said, SentCall, Turn, turns
from ..shared.conversation.results import NO_OUTPUT, Carries, Media, Room, Shown, attached, show
from ..shared.json_values import as_object, at, clean_object, count, objects, text
from ..shared.replies.parse import WireCall, missing, read_body, reply
from ..shared.schemas import ANTHROPIC_STRICT, Plan
from ..shared.tools.choice import must_call
from ..shared.tools.compiled import Prepared, WireTool, prepare
from ..shared.tools.compiled import restore as restore_tool
from .stream import ConverseStream

_NAME = "bedrock"
_PLAN = Plan(keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"))
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
_PDF = frozenset({"application/pdf"})
_MAX_IMAGES = 20
_MAX_DOCUMENTS = 5
_MAX_MEDIA_BYTES = 3_750_000
_NO_CALLS = "Answer in words now, without calling a tool."
_MUST_CALL = "Answer by calling one of the tools."
_STOPS: dict[str, StopReason] = {
    "content_filtered": "refusal",
    "end_turn": "stop",
    "guardrail_intervened": "refusal",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop",
    "tool_use": "stop",
}


def render_tools(tools: Sequence[ToolSpec], names: NameTable) -> list[dict[str, Any]]:
    """``[{"toolSpec": {"name", "description"?, "inputSchema": {"json"}, "strict"?}}]``, in ``toolConfig``."""
    return _prepare(tools, names).rendered(_tool)


def render_request(request: Request, names: NameTable) -> dict[str, Any]:
    """The body of ``POST /model/{modelId}/converse`` and ``…/converse-stream``; only they name the model.

    There is no tool choice ``none``, and tool blocks in the history need a ``toolConfig``: so ``none`` keeps
    the tools and asks for words in the system prompt, and without any tools past calls are told as text. A
    model may still call; whoever asked for none must not carry that out. A model that thinks cannot be made
    to call: it is asked to.
    """
    tools = render_tools(request.tools, names)
    history = turns(request.messages, _LEGAL_ID)
    choice, instruction = _choice(request, names, tools) if tools else ({}, "")
    body: dict[str, Any] = {"messages": _messages(history if tools else as_text(history, request), request)}
    system = [said for said in (request.system, instruction) if said.strip()]
    if system:
        body["system"] = [{"text": said} for said in system]
    wanted = {"maxTokens": request.max_tokens, "temperature": request.temperature}
    options = {name: value for name, value in wanted.items() if value is not None}
    if options:
        body["inferenceConfig"] = options
    if tools:
        body["toolConfig"] = {"tools": tools, "toolChoice": choice}
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
        "".join(map(_said, blocks)),
        calls,
        body=body,
        stop=_STOPS.get(text(body.get("stopReason")), "other"),
        usage=_usage(body),
        opaque=blocks or None,
        format_name=_NAME,
    )


def parse_stream() -> StreamParser:
    """ConverseStream's binary frames, from ``messageStart`` to ``metadata``."""
    return ConverseStream(parse_reply)


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """The exception's name from the header or the body, and its message.

    A model's own error (424) may be tried again when the status behind it may.
    """
    return bedrock_error(status, headers, body)


def losses(tools: Sequence[ToolSpec]) -> list[Loss]:
    """What Claude's rules for schemas do not allow of ``tools``."""
    return list(_prepare(tools, NameTable.of(tools)).losses)


def restore(tool: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Unwrapped, keys renamed back, and whole floats as integers."""
    return restore_tool(tool, arguments, _PLAN, ANTHROPIC_STRICT)


def _prepare(tools: Sequence[ToolSpec], names: NameTable) -> Prepared:
    return prepare(tools, names, _PLAN, strict=ANTHROPIC_STRICT)


def _tool(tool: WireTool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    strict = {"strict": True} if tool.strict else {}
    return {"toolSpec": {"name": tool.name, **described, "inputSchema": {"json": tool.schema}, **strict}}


def _choice(
    request: Request, names: NameTable, tools: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], str]:
    """``toolChoice``, and what must be said in words instead."""
    if request.tool_choice == "none":
        return {"auto": {}}, _NO_CALLS
    named = must_call(request.tool_choice, (tool["toolSpec"]["name"] for tool in tools), names)
    if named is None and request.tool_choice != "required":
        return {"auto": {}}, ""
    if _thinks(request):
        return {"auto": {}}, _MUST_CALL if named is None else f"Answer by calling the tool {named}."
    return {"any": {}} if named is None else {"tool": {"name": named}}, ""


def _thinks(request: Request) -> bool:
    past = (message for message in request.messages if isinstance(message, Assistant))
    echoes = (objects(message.opaque) for message in past if message.opaque_format == _NAME)
    return request.thinking or any("reasoningContent" in block for blocks in echoes for block in blocks)


def _messages(history: Sequence[Turn], request: Request) -> list[dict[str, Any]]:
    return alternating(_blocks(turn, request, place) for place, turn in enumerate(history))


def _blocks(turn: Turn, request: Request, place: int) -> tuple[str, list[dict[str, Any]]]:
    if isinstance(turn, Said):
        return "assistant", _echoed(turn) or _rewritten(turn)
    if isinstance(turn, Answered):
        return "user", _results(turn, request)
    files = attached(turn.parts, _carries(request, later=False))
    shown = [_file(each, f"{place}-{number}") for number, each in enumerate(files)]
    return "user", [*shown, {"text": turn.text}]


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
    """One block a result, before anything else. A message with a document needs a text beside it; a failed
    result may hold nothing but text, or Claude refuses it."""
    carries, text_only = _carries(request, later=True), Carries(request.max_result_bytes)
    carried = ((call, outcome, text_only if outcome.failed else carries) for call, outcome in turn.results)
    blocks = [_result(call, show(outcome, room)) for call, outcome, room in carried]
    with_document = any("document" in part for block in blocks for part in block["toolResult"]["content"])
    return [*blocks, {"text": "Documents are in the results above."}] if with_document else blocks


def _result(call: SentCall, shown: Shown) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if shown.text or shown.failed:
        content.append({"text": shown.marked_text})
    if shown.structured is not None:
        content.append({"json": shown.structured})
    content.extend(_file(file, f"{call.id}-{place}") for place, file in enumerate(shown.media))
    status = "error" if shown.failed else "success"
    content = content or [{"text": NO_OUTPUT}]
    return {"toolResult": {"toolUseId": call.id, "content": content, "status": status}}


def _file(file: Media | str, name: str) -> dict[str, Any]:
    if isinstance(file, str):
        return {"text": file}
    kind = file.mime.partition("/")[2]
    if file.is_image:
        return {"image": {"format": kind, "source": {"bytes": file.data}}}
    legal = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    return {"document": {"format": kind, "name": f"document {legal}", "source": {"bytes": file.data}}}


def _carries(request: Request, *, later: bool) -> Carries:
    room = {"application/pdf": _MAX_DOCUMENTS} | ({"image/": _MAX_IMAGES} if request.vision else {})
    return Carries(
        request.max_result_bytes,
        media=(_IMAGES if request.vision else frozenset[str]()) | _PDF,
        max_media_bytes=_MAX_MEDIA_BYTES,
        room=Room(room),
        structured="object",
        later=_PDF if later else frozenset[str](),
    )


def _said(block: Mapping[str, Any]) -> str:
    """The text of a block, with citations or without."""
    cited = objects(at(block, "citationsContent", "content"))
    return text(block.get("text")) or "".join(text(part.get("text")) for part in cited)


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
