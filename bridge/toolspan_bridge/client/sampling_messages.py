"""Requests and results of ``sampling/createMessage``, as the bridge's own messages and back.

MCP 2025-11-25 and 2026-07-28, client/sampling: with ``tools``, ``toolChoice``, and messages whose content is
a block or a list of them, ``tool_use`` and ``tool_result`` among these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from toolspan_server.engines.upstreams import RefusedQuestion, listed_tool

from ..messages import (
    Assistant,
    Message,
    Part,
    Reply,
    Request,
    ToolCall,
    ToolChoice,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)
from .elicitation import INVALID_PARAMS
from .sampling import Sampled, Sampling

MAX_MESSAGES = 200
MAX_TOOLS = 64
_STOPS = {"stop": "endTurn", "length": "maxTokens", "context": "maxTokens", "other": "endTurn"}
_CHOICES: Mapping[Any, ToolChoice] = {"auto": "auto", "none": "none", "required": "required"}


def read_sampling(params: Mapping[str, Any], server: str, tool: str, most_tokens: int) -> Sampling:
    """The question in the ``params`` of ``sampling/createMessage``, of at most ``most_tokens``.

    Raises ``RefusedQuestion``.
    """
    limit = params.get("maxTokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise _wrong("maxTokens: a whole number from 1 on is needed")
    tools = tuple(_tools(params.get("tools"), server))
    choice = _object(params.get("toolChoice")).get("mode", "auto")
    if choice not in _CHOICES:
        raise _wrong("toolChoice.mode: auto, none or required is needed")
    temperature = params.get("temperature")
    request = Request(
        model="",
        messages=tuple(_messages(params.get("messages"))),
        system=_text(params.get("systemPrompt")),
        tools=tools,
        tool_choice=_CHOICES[choice] if tools else "auto",
        max_tokens=min(limit, most_tokens),
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        cache=False,
    )
    preferences = _object(params.get("modelPreferences"))
    hints = _objects(preferences.get("hints"))
    named = tuple(hint["name"] for hint in hints if isinstance(hint.get("name"), str))
    stops = tuple(stop for stop in _list(params.get("stopSequences")) if isinstance(stop, str) and stop)
    return Sampling(server, tool, request, params, named, stops, _priorities(preferences))


def _priorities(preferences: Mapping[str, Any]) -> dict[str, float]:
    given = {name: preferences.get(f"{name}Priority") for name in ("cost", "speed", "intelligence")}
    return {
        name: float(weight)
        for name, weight in given.items()
        if isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= 1
    }


def written_sample(sampling: Sampling, sampled: Sampled) -> dict[str, Any]:
    """``CreateMessageResult``; with a list of blocks where the model calls tools. Raises
    ``RefusedQuestion``."""
    reply = sampled.reply
    if reply.incomplete or reply.stop in ("error", "malformed", "refusal"):
        raise RefusedQuestion(-1, f"the model gave no whole answer ({reply.trouble or reply.stop})")
    text, stop = _cut(reply, sampling.stops)
    block: Any = {"type": "text", "text": text}
    if reply.message.calls:
        uses = [_tool_use(place, call) for place, call in enumerate(reply.message.calls, start=1)]
        block, stop = [*([block] if text else []), *uses], "toolUse"
    return {"role": "assistant", "content": block, "model": sampled.model, "stopReason": stop}


def _cut(reply: Reply, stops: Iterable[str]) -> tuple[str, str]:
    """The text up to the first of ``stops``, and the reason why it ends there."""
    text = reply.message.text
    ends = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(ends)], "stopSequence") if ends else (text, _STOPS.get(reply.stop, "endTurn"))


def _tool_use(place: int, call: ToolCall) -> dict[str, Any]:
    if call.arguments is None:
        raise RefusedQuestion(-1, f"the model's call of {call.name!r} cannot be read")
    return {
        "type": "tool_use",
        "id": call.id or f"call_{place}",
        "name": call.name,
        "input": dict(call.arguments),
    }


def _tools(given: Any, server: str) -> Iterable[ToolSpec]:
    listed = _list(given)
    if len(listed) > MAX_TOOLS:
        raise _wrong(f"tools: {MAX_TOOLS} at most")
    for entry in listed:
        tool = listed_tool(entry)
        if isinstance(tool, str):
            raise _wrong(f"tools: {tool}")
        yield ToolSpec(server, tool.name, tool.description, tool.schema)


def _messages(given: Any) -> Iterable[Message]:
    messages = _objects(given)
    if not messages or len(messages) > MAX_MESSAGES:
        raise _wrong(f"messages: 1 to {MAX_MESSAGES} are needed")
    waiting: dict[str, str] = {}
    for message in messages:
        content: Any = message.get("content")
        blocks = _objects(content if isinstance(content, list) else [content])
        if message.get("role") == "assistant":
            _answered(waiting)
            read = _assistant(blocks)
            waiting = {call.id: call.name for call in read.calls}
            yield read
        elif message.get("role") == "user":
            yield _user(blocks, waiting)
            waiting = {}
        else:
            raise _wrong("messages: the role is user or assistant")
    _answered(waiting)


def _answered(waiting: Mapping[str, str]) -> None:
    if waiting:
        raise _wrong("messages: each tool_use needs its tool_result in the next message")


def _user(blocks: Sequence[Mapping[str, Any]], waiting: Mapping[str, str]) -> Message:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        _answered(waiting)
        parts = tuple(Part(str(block.get("type")), block) for block in blocks if block.get("type") != "text")
        return User(_texts(blocks), parts)
    if len(results) < len(blocks):
        raise _wrong("messages: a message with tool_result has nothing else")
    given = {str(block.get("toolUseId")): block for block in results}
    if set(given) != set(waiting):
        raise _wrong("messages: the tool_result of a message are those of the tool_use before it")
    return ToolResults(tuple(_outcome(each, name, given[each]) for each, name in waiting.items()))


def _assistant(blocks: Sequence[Mapping[str, Any]]) -> Assistant:
    calls: list[ToolCall] = []
    for block in blocks:
        if block.get("type") == "tool_use":
            arguments = _object(block.get("input"))
            raw = json.dumps(arguments)
            calls.append(ToolCall(_text(block.get("id")), _text(block.get("name")), arguments, raw))
        elif block.get("type") != "text":
            raise _wrong("messages: an assistant's content is text and tool_use")
    return Assistant(_texts(blocks), tuple(calls))


def _outcome(call_id: str, name: str, block: Mapping[str, Any]) -> ToolOutcome:
    content = _objects(block.get("content"))
    text, failed = _texts(content), block.get("isError") is True
    result = {"success": False, "error": text} if failed else {"success": True, "result": text}
    parts = tuple(Part(str(each.get("type")), each) for each in content)
    return ToolOutcome(call_id, name, result, parts, block.get("structuredContent"))


def _texts(blocks: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(_text(block.get("text")) for block in blocks if block.get("type") == "text")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("Any", value) if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", each) for each in _list(value) if isinstance(each, dict)]


def _wrong(what: str) -> RefusedQuestion:
    return RefusedQuestion(INVALID_PARAMS, what)
