"""A Converse answer, read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Reply, Usage
from ..shared.json_values import (
    as_object,
    at,
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
from ..shared.settings import is_standard_service
from .citations import block_text, citations
from .conversation import FORMAT, own_call


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
        if (use := own_call(block)) is not None
    ]
    return reply(
        "".join(map(block_text, blocks)),
        calls,
        body=body,
        stop=stop_reason(body.get("stopReason")),
        finish=text(body.get("stopReason")),
        usage=_usage(body),
        opaque=blocks or None,
        format_name=FORMAT,
        citations=tuple(citations(blocks)),
    )


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
        written_tokens=written,
        dearer=not is_standard_service(at(body, "serviceTier", "type")),
    )
