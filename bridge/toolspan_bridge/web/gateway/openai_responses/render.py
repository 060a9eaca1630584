"""A response, written: its output item by item, and what it repeats of the request."""

from __future__ import annotations

from typing import Any

from ....messages import ToolCall, ToolSpec, Usage
from ..faults import RequestFault
from ..openai_chat.render import error_message, render_error
from ..pieces import Finished
from ..replies import Begun, Collected
from ..text_tools import text_of_call

__all__ = [
    "RESPONSE_PREFIX",
    "call_id",
    "call_item",
    "call_status",
    "message_item",
    "named",
    "reasoning_item",
    "refusal_part",
    "render_answer",
    "render_error",
    "render_failure",
    "render_response",
    "render_usage",
    "response_id",
    "response_of_item",
    "text_part",
]

RESPONSE_PREFIX = "resp_"
_INCOMPLETE = {"length": "max_output_tokens", "refusal": "content_filter"}
_CODES = {
    402: "insufficient_quota",
    429: "rate_limit_exceeded",
    503: "server_is_overloaded",
    529: "server_is_overloaded",
}
_TOLD_CODES = frozenset({"context_length_exceeded", "insufficient_quota", "server_is_overloaded"})
_ID_LENGTH = 24


def response_id(begun: Begun) -> str:
    """The id that a further request may go on from."""
    return f"{RESPONSE_PREFIX}{begun.id}"


def response_of_item(item_id: str) -> str:
    """The id of the response that the item ``item_id`` belongs to, if it is one of ours."""
    return f"{RESPONSE_PREFIX}{item_id.rpartition('_')[2][:_ID_LENGTH]}"


def call_id(begun: Begun, number: int) -> str:
    """The id of a call of the client's own tools."""
    return f"call_{begun.call_id(number)}"


def text_part(text: str) -> dict[str, Any]:
    """The text of a message."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def refusal_part(text: str) -> dict[str, Any]:
    """What stands in the place of an answer that fits the schema."""
    return {"type": "refusal", "refusal": text}


def message_item(begun: Begun, turn: int, content: list[dict[str, Any]], status: str) -> dict[str, Any]:
    """What the model said in a turn."""
    item_id = f"msg_{begun.id}{turn:02d}"
    return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}


def reasoning_item(begun: Begun, turn: int, summary: list[dict[str, Any]]) -> dict[str, Any]:
    """What the model let be seen of its thoughts in a turn."""
    return {"id": f"rs_{begun.id}{turn:02d}", "type": "reasoning", "summary": summary}


def call_item(begun: Begun, number: int, call: ToolCall, arguments: str, status: str) -> dict[str, Any]:
    """A call of the client's own tools."""
    if call.name in begun.asked.text_tools:
        text = arguments and text_of_call(call)
        known = {"id": f"ctc_{begun.call_id(number)}", "type": "custom_tool_call"}
        return {**known, "call_id": call_id(begun, number), "name": call.name, "input": text}
    return {
        "id": f"fc_{begun.call_id(number)}",
        "type": "function_call",
        "status": status,
        "arguments": arguments,
        "call_id": call_id(begun, number),
        **named(begun, call),
    }


def named(begun: Begun, call: ToolCall) -> dict[str, str]:
    """The tool that is called, as the client named it."""
    namespace, name = begun.asked.namespaces.get(call.name, ("", call.name))
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def call_status(finished: Finished, number: int) -> str:
    """Whether the call ``number`` is whole: the last one of a reply that was cut off may not be."""
    cut = finished.finish == "length" and number + 1 == len(finished.calls)
    return "incomplete" if cut else "completed"


def render_usage(usage: Usage) -> dict[str, Any]:
    """The tokens of all turns."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.written_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def render_answer(begun: Begun, answer: Collected) -> dict[str, Any]:
    """The whole ``response``."""
    output: list[dict[str, Any]] = []
    for number, turn in enumerate(answer.turns):
        if turn.thoughts:
            summary = [{"type": "summary_text", "text": turn.thoughts}]
            output.append(reasoning_item(begun, number, summary))
        if turn.text:
            part = refusal_part(turn.text) if turn.unfit else text_part(turn.text)
            output.append(message_item(begun, number, [part], "completed"))
    for number, call in enumerate(answer.finished.calls):
        output.append(call_item(begun, number, call, call.raw, call_status(answer.finished, number)))
    return render_response(begun, output, answer.finished)


def render_response(
    begun: Begun, output: list[dict[str, Any]], finished: Finished | None = None
) -> dict[str, Any]:
    """The response with ``output``: in progress, or as it ``finished``."""
    reason = None if finished is None else _INCOMPLETE.get(finished.finish)
    ended = "incomplete" if reason else "completed"
    return {
        **_repeated(begun),
        "status": "in_progress" if finished is None else ended,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "usage": None if finished is None else render_usage(finished.usage),
    }


def render_failure(begun: Begun, output: list[dict[str, Any]], fault: RequestFault) -> dict[str, Any]:
    """The response that broke off. Codex acts on the codes."""
    usual = _CODES.get(fault.status, "server_error" if fault.status >= 500 else "invalid_prompt")
    code = fault.code if fault.code in _TOLD_CODES else usual
    error = {"code": code, "message": error_message(fault)}
    return {**render_response(begun, output), "status": "failed", "error": error}


def _repeated(begun: Begun) -> dict[str, Any]:
    asked, echo = begun.asked, begun.asked.echo
    choice = asked.tool_choice
    reasoning = {"effort": asked.reasoning, "summary": None}
    return {
        "id": response_id(begun),
        "object": "response",
        "created_at": begun.created,
        "model": begun.model,
        "instructions": echo.get("instructions"),
        "max_output_tokens": asked.max_tokens,
        "metadata": echo.get("metadata") or {},
        "parallel_tool_calls": asked.parallel is not False,
        "previous_response_id": asked.previous or None,
        "reasoning": echo.get("reasoning") or reasoning,
        "store": asked.store,
        "temperature": asked.temperature,
        "text": echo.get("text") or {"format": {"type": "text"}},
        "tool_choice": _choice(begun) if isinstance(choice, tuple) else choice,
        "tools": [_tool(tool, text=tool.name in asked.text_tools) for tool in asked.tools],
        "top_p": echo.get("top_p"),
        "truncation": "auto" if asked.trim else "disabled",
        "user": echo.get("user"),
    }


def _choice(begun: Begun) -> dict[str, Any]:
    name = begun.asked.tool_choice[1]
    return {"type": "custom" if name in begun.asked.text_tools else "function", "name": name}


def _tool(tool: ToolSpec, *, text: bool) -> dict[str, Any]:
    if text:
        return {"type": "custom", "name": tool.name, "description": tool.description or None}
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or None,
        "parameters": dict(tool.schema),
        "strict": tool.strict,
    }
