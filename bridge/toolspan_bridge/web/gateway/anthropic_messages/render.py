"""A message of Anthropic's API, written; and its errors."""

from __future__ import annotations

from typing import Any

from ....messages import ToolCall, Usage
from ..faults import RequestFault
from ..pieces import Finish
from ..replies import Begun, Collected

__all__ = [
    "SIGNATURE",
    "STOPS",
    "THREAD_LOST",
    "call_id",
    "call_json",
    "message_id",
    "render_answer",
    "render_error",
    "render_usage",
]

SIGNATURE = "toolspan"
"""Stands for the signature of thoughts, which stays here: they go back to the provider as they came."""

THREAD_LOST = "thread_not_found"
"""The code of the error after which a client sends all messages."""

STOPS: dict[Finish, str] = {
    "stop": "end_turn",
    "stop_text": "stop_sequence",
    "length": "max_tokens",
    "calls": "tool_use",
    "refusal": "refusal",
    "unfit": "refusal",
}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def message_id(begun: Begun) -> str:
    """The id that a thread goes on from."""
    return f"msg_{begun.id}"


def call_id(begun: Begun, number: int) -> str:
    """The id of a call of the client's own tools."""
    return f"toolu_{begun.call_id(number)}"


def call_json(begun: Begun, number: int, call: ToolCall) -> dict[str, Any]:
    """A block ``tool_use``."""
    arguments = dict(call.arguments or {})
    return {"type": "tool_use", "id": call_id(begun, number), "name": call.name, "input": arguments}


def render_usage(usage: Usage) -> dict[str, Any]:
    """The tokens of all turns; those read from and put into the provider's cache are counted apart."""
    return {
        "input_tokens": max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens),
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.written_tokens,
    }


def render_answer(begun: Begun, answer: Collected) -> dict[str, Any]:
    """A ``message`` with a block for the thoughts, and one for the text, of each turn, and for each call."""
    content: list[dict[str, Any]] = []
    for turn in answer.turns:
        if turn.thoughts:
            content.append({"type": "thinking", "thinking": turn.thoughts, "signature": SIGNATURE})
        if turn.text:
            content.append({"type": "text", "text": turn.text})
    content += [call_json(begun, number, call) for number, call in enumerate(answer.finished.calls)]
    return {
        "id": message_id(begun),
        "type": "message",
        "role": "assistant",
        "model": begun.model,
        "content": content,
        "stop_reason": STOPS[answer.finished.finish],
        "stop_sequence": answer.finished.stop_text or None,
        "usage": render_usage(answer.finished.usage),
    }


def _message(fault: RequestFault) -> str:
    """The message of ``fault``, after Anthropic's own words where it is one that clients know by them."""
    told = fault.overflow
    if told is None:
        return fault.message
    words = "prompt is too long"
    if told.counted is not None and told.most is not None:
        words += f": {told.counted} tokens > {told.most} maximum"
        if told.answer and told.counted <= told.most:
            words = f"input length and `max_tokens` exceed context limit: {told.counted} + {told.answer} > "
            words += f"{told.most}, decrease input length or `max_tokens` and try again"
    elif told.most is not None:
        words += f": at most {told.most} tokens"
    return f"{words} ({fault.message})"


def render_error(fault: RequestFault) -> dict[str, Any]:
    """``{"type": "error", "error": {"type", "message"}}``; where a thread is lost, the details say so, and
    the client sends all messages."""
    kind = _TYPES.get(fault.status, "api_error" if fault.status >= 500 else "invalid_request_error")
    error: dict[str, Any] = {"type": kind, "message": _message(fault)}
    if fault.code == THREAD_LOST:
        error["details"] = {"error_code": fault.code}
    return {"type": "error", "error": error}
