"""A ``generateContent`` answer, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...messages import Assistant, Reply, Usage
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
from ..shared.replies.stops import stop_reason
from .continuation import FORMAT, with_token
from .grounding import citations


def parse_reply(body: Any) -> Reply:
    """``candidates[0]``, its parts kept to be sent back. A blocked prompt is a refusal.

    What the provider says about the end is a note, never the model's words.
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
    token = text(candidate.get("continuationToken"))
    stop = stop_reason(finish, missing="stop")
    answer = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
    read = reply(
        answer,
        calls,
        body=body,
        stop="length" if stop == "pause" and not token else stop,
        finish=finish,
        usage=_usage(body),
        opaque=with_token(parts, token if stop == "pause" else "") or None,
        format_name=FORMAT,
        citations=citations(candidate, answer),
    )
    said = "" if finish in ("", "STOP") else text(candidate.get("finishMessage")).strip()
    return replace(read, notes=(*read.notes, f"Gemini ended its turn ({finish}): {said}")) if said else read


def _blocked(body: dict[str, Any]) -> Reply:
    feedback = as_object(body.get("promptFeedback")) or {}
    reason = text(feedback.get("blockReason"))
    if not reason:
        raise missing("candidates", body)
    why = text(feedback.get("blockReasonMessage")) or reason
    return Reply(Assistant(), "refusal", _usage(body), notes=(f"The prompt was blocked: {why}",))


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
