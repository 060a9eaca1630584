"""Ollama's answer, read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Reply, Usage
from ..shared.json_values import as_object, count, text
from ..shared.replies.parse import (
    chat_calls,
    missing,
    read_body,
    reply,
)
from ..shared.replies.stops import stop_reason
from ..shared.replies.thoughts import split_thoughts
from .conversation import FORMAT


def parse_reply(body: Any) -> Reply:
    """``message``. Thinking, also that in the text, is kept to be sent back. Raises ``FormatError`` when
    there is no message."""
    body = read_body(body)
    message = as_object(body.get("message"))
    if message is None:
        raise missing("message", body)
    calls = chat_calls(message, body)
    content = text(message.get("content"))
    thinking = text(message.get("thinking")) or split_thoughts(content)[1]
    return reply(
        content,
        calls,
        body=body,
        stop=stop_reason(body.get("done_reason"), missing="stop"),
        finish=text(body.get("done_reason")),
        usage=_usage(body),
        opaque={"thinking": thinking} if thinking else None,
        format_name=FORMAT,
    )


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
