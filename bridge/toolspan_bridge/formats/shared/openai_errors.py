"""OpenAI's error answers, the same for Chat Completions and Responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .contract import WireError
from .json_values import as_object, compact, text
from .openai_models import wants_other_api
from .replies.errors import error_body, wire_error

_QUOTA = re.compile(
    r"insufficient_quota|credit_balance_exhausted|.*_spend_limit_exceeded|organization_usage_limit_exceeded"
)
_PLACE = re.compile(r"\btools(?:\[(\d{1,4})\]|\.(\d{1,4})\b)")
_NAMED = re.compile(r"[Ss]chema for (?:function|tool) ['\"]([^'\"]{1,128})['\"]")
_STATUS = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "rate_limit_exceeded": 429,
    "server_is_overloaded": 503,
    "slow_down": 429,
}


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "type", "param", "code"}}``, or these members without ``error``.

    An exhausted quota is a 429 for which waiting does not help. A refused tool is named in the message
    (``Invalid schema for function 'x'``) or by its index in ``param`` (``tools[3].parameters``).
    """
    answer = error_body(body)
    error = as_object(answer.get("error")) or answer
    words = [text(error.get(key)) for key in ("code", "type")]
    message = text(error.get("message")) or text(answer.get("error"))
    read = wire_error(
        status,
        headers,
        body,
        kind=next(filter(None, words), ""),
        message=message,
        final=any(_QUOTA.fullmatch(word) for word in words),
    )
    if wants_other_api(message):
        return replace(read, fault="wrong_wire")
    return replace(read, tool=_tool(message, text(error.get("param")))) if status in (400, 422) else read


def failed_in_stream(error: Mapping[str, Any]) -> WireError:
    """An error after HTTP 200, with the status that it would have had."""
    words = (text(error.get("code")), text(error.get("type")))
    status = next((_STATUS[word] for word in words if word in _STATUS), 500)
    reported = {**error, "message": text(error.get("message")) or "the provider gave no reason"}
    return parse_error(status, {}, compact({"error": reported}).encode("utf-8", "replace"))


def _tool(message: str, param: str) -> str | int | None:
    named = _NAMED.search(message)
    if named:
        return named[1]
    place = _PLACE.search(param) or _PLACE.search(message)
    return int(place[1] or place[2]) if place else None
