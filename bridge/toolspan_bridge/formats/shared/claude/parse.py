"""Parses Claude's answers, from Anthropic and Bedrock's InvokeModel: one message, or an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....messages import Reply, Usage
from ..contract import WireError
from ..json_values import (
    as_list,
    as_object,
    at,
    count,
    objects,
    text,
)
from ..replies.errors import error_body, wire_error
from ..replies.parse import (
    WireCall,
    missing,
    read_body,
    reply,
)
from ..replies.stops import stop_reason
from ..settings import is_standard_service
from .citations import citations

__all__ = ["blocks_of", "explanation", "is_call", "named_tool", "parse_error", "parse_message", "status_of"]

_STATUSES = {
    "api_error": 500,
    "authentication_error": 401,
    "billing_error": 402,
    "conflict_error": 409,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "request_too_large": 413,
    "timeout_error": 504,
}
_SPENT = frozenset({"contract_spend_limit_reached", "enforced_spend_limit_reached"})
_TOOL = re.compile(r"\btools\.(\d{1,4})\b")


def is_call(block: Mapping[str, Any]) -> bool:
    """Whether a content block is a call for the client to run: ``server_tool_use`` is not."""
    return block.get("type") == "tool_use"


def parse_message(body: Any, format_name: str) -> Reply:
    """Parse ``content``; its blocks are kept to be sent back. Raises ``FormatError`` when there is none."""
    body = read_body(body)
    blocks = blocks_of(body.get("content"))
    if blocks is None:
        raise missing("content", body)
    answer_text = "".join(text(block.get("text")) for block in blocks if block.get("type") == "text")
    stop = stop_reason(body.get("stop_reason"))
    return reply(
        answer_text or explanation(body),
        [
            WireCall(block.get("id"), block.get("name"), block.get("input"))
            for block in blocks
            if is_call(block)
        ],
        body=body,
        stop=stop,
        finish=text(body.get("stop_reason")),
        usage=_usage(body),
        opaque=blocks or None,
        format_name=format_name,
        citations=tuple(citations(blocks)) if answer_text else (),
    )


def blocks_of(content: Any) -> list[dict[str, Any]] | None:
    """The blocks of ``content``; some servers write a text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return None if as_list(content) is None else objects(content)


def explanation(body: Mapping[str, Any]) -> str:
    """Why the model refuses, if it gives a reason."""
    refuses = body.get("stop_reason") == "refusal"
    return text(at(body, "stop_details", "explanation")) if refuses else ""


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"type": "error", "error": {"type", "message", "details"}, "request_id"}``.

    A spending limit comes with 429, though waiting does not help (anthropic 2.12.0, ``_error_classes``).
    """
    answer = error_body(body)
    error = as_object(answer.get("error")) or {}
    code = text(at(error, "details", "error_code"))
    said = text(error.get("message")) or text(answer.get("error")) or text(answer.get("message"))
    message, request = said, text(answer.get("request_id"))
    return wire_error(
        status,
        headers,
        body,
        kind=code if code in _SPENT else text(error.get("type")),
        message=f"{message} (request {request})" if message and request else message,
        final=code in _SPENT,
        tool=named_tool(message),
    )


def status_of(kind: str) -> int:
    """The HTTP status that an error of this type would have outside a stream."""
    return _STATUSES.get(kind, 500)


def named_tool(message: str) -> int | None:
    """The index of the tool that the API refuses, as in ``tools.17.custom.input_schema: …``."""
    named = _TOOL.search(message)
    return int(named[1]) if named else None


def _usage(body: Mapping[str, Any]) -> Usage:
    """The API counts cached input separately: the total input is the sum of the three counts."""
    usage = as_object(body.get("usage"))
    if usage is None:
        return Usage()
    cached = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=count(usage.get("input_tokens")) + cached + written,
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=cached,
        reasoning_tokens=count(at(usage, "output_tokens_details", "thinking_tokens")),
        raw=(usage,),
        written_tokens=written,
        dearer=not all(is_standard_service(usage.get(name)) for name in ("service_tier", "speed")),
    )
