"""A Chat Completions answer, written; and an error, in the shape of OpenAI's APIs."""

from __future__ import annotations

from typing import Any

from ....messages import ToolCall, Usage
from ..faults import RequestFault
from ..pieces import Finish
from ..replies import Begun, Collected
from ..text_tools import text_of_call

__all__ = [
    "FINISHES",
    "call_id",
    "call_json",
    "error_message",
    "render_answer",
    "render_error",
    "render_usage",
]

FINISHES: dict[Finish, str] = {
    "stop": "stop",
    "stop_text": "stop",
    "length": "length",
    "calls": "tool_calls",
    "refusal": "content_filter",
    "unfit": "stop",
}
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def call_id(begun: Begun, number: int) -> str:
    """The id of a call of the client's own tools."""
    return f"call_{begun.call_id(number)}"


def call_json(begun: Begun, number: int, call: ToolCall) -> dict[str, Any]:
    """One of ``tool_calls``."""
    known = {"id": call_id(begun, number)}
    if call.name in begun.asked.text_tools:
        return {**known, "type": "custom", "custom": {"name": call.name, "input": text_of_call(call)}}
    return {**known, "type": "function", "function": {"name": call.name, "arguments": call.raw}}


def render_usage(usage: Usage) -> dict[str, Any]:
    """The tokens of all turns."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def render_answer(begun: Begun, answer: Collected) -> dict[str, Any]:
    """A ``chat.completion`` with one choice."""
    calls = [call_json(begun, number, call) for number, call in enumerate(answer.finished.calls)]
    unfit = answer.finished.finish == "unfit"
    content = None if unfit or (calls and not answer.text) else answer.text
    refusal = answer.text if unfit else None
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
    message |= {"tool_calls": calls} if calls else {}
    message |= {"reasoning_content": answer.thoughts} if answer.thoughts else {}
    finish = FINISHES[answer.finished.finish]
    return {
        "id": f"chatcmpl-{begun.id}",
        "object": "chat.completion",
        "created": begun.created,
        "model": begun.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": render_usage(answer.finished.usage),
    }


def error_message(fault: RequestFault) -> str:
    """The message of ``fault``, after OpenAI's own words where it is one that clients know by them."""
    told = fault.overflow
    if told is None:
        return fault.message
    if told.most is None:
        words = "Your input exceeds the context window of this model."
    elif told.counted is None:
        words = f"This model's maximum context length is {told.most} tokens."
    elif not told.answer:
        words = (
            f"This model's maximum context length is {told.most} tokens. However, your messages resulted in "
        )
        words += f"{told.counted} tokens. Please reduce the length of the messages."
    else:
        words = f"This model's maximum context length is {told.most} tokens. However, you requested "
        words += f"{told.counted + told.answer} tokens ({told.counted} in the messages, {told.answer} in the "
        words += "completion). Please reduce the length of the messages or completion."
    return f"{words} ({fault.message})"


def render_error(fault: RequestFault) -> dict[str, Any]:
    """``{"error": {"message", "type", "param", "code"}}``."""
    usual = "server_error" if fault.status >= 500 else "invalid_request_error"
    return {
        "error": {
            "message": error_message(fault),
            "type": _TYPES.get(fault.status, usual),
            "param": fault.param or None,
            "code": fault.code or None,
        }
    }
