"""A ``generateContent`` answer, read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Reply, StopReason, Usage
from ..shared.json_values import (
    as_object,
    count,
    objects,
    text,
)
from ..shared.replies.parse import (
    WireCall,
    missing,
    read_body,
    reply,
)
from .conversation import FORMAT

_STOPS: dict[str, StopReason] = {
    "": "stop",
    "BLOCKLIST": "refusal",
    "CONTINUATION": "length",
    "ESCALATION": "refusal",
    "IMAGE_OTHER": "error",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "IMAGE_SAFETY": "refusal",
    "LANGUAGE": "error",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "MAX_TOKENS": "length",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "MODEL_ARMOR": "refusal",
    "NO_IMAGE": "error",
    "OTHER": "error",
    "PROHIBITED_CONTENT": "refusal",
    "PUP_LIMITED_DISABLED": "refusal",
    "RECITATION": "refusal",
    "SAFETY": "refusal",
    "SPII": "refusal",
    "STOP": "stop",
    "TOO_MANY_TOOL_CALLS": "error",
    "UNEXPECTED_TOOL_CALL": "malformed",
}


def parse_reply(body: Any) -> Reply:
    """``candidates[0]``, its parts kept to be sent back. A blocked prompt is a refusal.

    Raises ``FormatError`` when there is neither a candidate nor a reason.
    """
    body = read_body(body)
    candidate = next(iter(objects(body.get("candidates"))), None)
    if candidate is None:
        return _blocked(body)
    finish = text(candidate.get("finishReason"))
    content = as_object(candidate.get("content"))
    if content is None and not finish:
        raise missing("content", body)
    parts = objects((content or {}).get("parts"))
    calls = [
        WireCall(call.get("id"), call.get("name"), call.get("args"))
        for part in parts
        if (call := as_object(part.get("functionCall"))) is not None
    ]
    answer_text = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
    return reply(
        answer_text or block_message(body),
        calls,
        body=body,
        stop=_STOPS.get(finish, "other"),
        usage=_usage(body),
        opaque=parts or None,
        format_name=FORMAT,
    )


def _blocked(body: dict[str, Any]) -> Reply:
    answer_text = block_message(body)
    if not answer_text:
        raise missing("candidates", body)
    return reply(answer_text, (), body=body, stop="refusal", usage=_usage(body), format_name=FORMAT)


def _usage(body: Mapping[str, Any]) -> Usage:
    usage = as_object(body.get("usageMetadata"))
    if usage is None:
        return Usage()
    thoughts = count(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount")),
        output_tokens=count(usage.get("candidatesTokenCount")) + thoughts,
        cached_tokens=count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
        raw=(usage,),
    )


def block_message(body: Mapping[str, Any]) -> str:
    """The reason that an answer without text gives: why it ended, or why its prompt was blocked."""
    candidate = next(iter(objects(body.get("candidates"))), None)
    if candidate is not None:
        return text(candidate.get("finishMessage"))
    feedback = as_object(body.get("promptFeedback")) or {}
    reason = text(feedback.get("blockReason"))
    why = text(feedback.get("blockReasonMessage")) or reason
    return f"The prompt was blocked: {why}" if reason else ""
