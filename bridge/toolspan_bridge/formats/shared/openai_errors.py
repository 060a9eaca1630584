"""OpenAI's error answers, the same for Chat Completions and Responses, and those of compatible servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .contract import WireError
from .json_values import (
    as_list,
    as_object,
    at,
    compact,
    load,
    objects,
    text,
)
from .replies.errors import error_body, named_status, wire_error

_QUOTA = re.compile(
    r"insufficient_quota|credit_balance_exhausted|.*_spend_limit_exceeded|organization_usage_limit_exceeded"
)
_PLACE = re.compile(r"\btools(?:\[(\d{1,4})\]|\.(\d{1,4})\b)")
_NAMED = re.compile(r"[Ss]chema for (?:function|tool) ['\"]([^'\"]{1,128})['\"]")
_MOST_INNER = 600


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "type", "param", "code"}}``, or these members without ``error``.

    An exhausted quota is a 429 for which waiting does not help. A refused tool is named in the message
    (``Invalid schema for function 'x'``) or by its index in ``param`` (``tools[3].parameters``). A router's
    ``metadata.raw`` is the answer of the provider behind it: its reason is part of the message. A list of
    problems (``[{"loc", "msg"}]``), as Mistral and FastAPI servers send it, is written as text.
    """
    answer = error_body(body)
    error = as_object(answer.get("error")) or answer
    behind = _behind(error)
    message = _message(error) or _message(answer) or text(answer.get("error"))
    if inner := _message(behind) or text(at(error, "metadata", "raw")):
        provider = text(at(error, "metadata", "provider_name")) or "the provider behind it"
        message = f"{message} ({provider}: {' '.join(inner.split())[:_MOST_INNER]})"
    words = [_word(each.get(key)) for each in (error, behind) for key in ("code", "type")]
    param = text(error.get("param")) or text(behind.get("param")) or _place_of_problem(error)
    return wire_error(
        status,
        headers,
        body,
        kind=next(filter(None, (text(error.get(key)) for key in ("code", "type"))), ""),
        message=message,
        final=any(_QUOTA.fullmatch(word) for word in words),
        tool=_tool(message, param) if status in (400, 422) else None,
        codes=[word for word in words if word],
        param=param,
    )


def failed_in_stream(error: Mapping[str, Any]) -> WireError:
    """An error after HTTP 200, with the status that it would have had."""
    reported = {**error, "message": text(error.get("message")) or "the provider gave no reason"}
    return parse_error(named_status(error), {}, compact({"error": reported}).encode("utf-8", "replace"))


def _behind(error: Mapping[str, Any]) -> dict[str, Any]:
    """The error of the provider behind a router, where it is JSON."""
    try:
        raw = as_object(load(text(at(error, "metadata", "raw")) or "{}")) or {}
    except ValueError:
        return {}
    return as_object(raw.get("error")) or raw


def _message(error: Mapping[str, Any]) -> str:
    """The message of an error, whether it is text or a list of problems."""
    message = error.get("message")
    if problems := _problems(error):
        return "; ".join(f"{_path(problem)}: {text(problem.get('msg'))}" for problem in problems)
    return text(message) or text(error.get("detail"))


def _problems(error: Mapping[str, Any]) -> list[dict[str, Any]]:
    for listed in (at(error, "message", "detail"), error.get("message"), error.get("detail")):
        if problems := [problem for problem in objects(listed) if problem.get("msg")]:
            return problems
    return []


def _place_of_problem(error: Mapping[str, Any]) -> str:
    return next((_path(problem) for problem in _problems(error)), "")


def _path(problem: Mapping[str, Any]) -> str:
    return ".".join(str(step) for step in as_list(problem.get("loc")) or [])


def _word(value: Any) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)


def _tool(message: str, param: str) -> str | int | None:
    named = _NAMED.search(message)
    if named:
        return named[1]
    place = _PLACE.search(param) or _PLACE.search(message)
    return int(place[1] or place[2]) if place else None
