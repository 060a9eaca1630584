"""Converts MCP tool results to outcomes, the same for every server's tools.

Success is ``{"success": true, "result", "tool_name", "execution_time_ms"}``; failure ``{"success": false,
"error", "error_code", "user_action", "tool_name", "execution_time_ms"}``.
"""

from __future__ import annotations

import json
from typing import Any, cast

from toolspan_server.common.json_values import foreign_number, read_foreign_json
from toolspan_server.engines.upstreams import UpstreamResult

from ..messages import Mark, Part, ToolOutcome
from ..provenance.outward import marks_of_paths

UNLISTED_ACTION = "Call one of the listed tools."
_MOST_CODE = 100
_OPENED_META = "dev.toolspan/opened"
"""The key of a result's ``_meta`` by which our own server names files that a call names otherwise."""
TOOL_ERROR_ACTION = "Read the error, correct the arguments, and call the tool again."


def failed(
    call_id: str, name: str, error: str, error_code: str, user_action: str, execution_time_ms: float = 0.0
) -> ToolOutcome:
    """A failed outcome without a server's answer: the call was refused, timed out, or got no answer."""
    return ToolOutcome(
        call_id,
        name,
        {
            "success": False,
            "error": error,
            "error_code": error_code,
            "user_action": user_action,
            "tool_name": name,
            "execution_time_ms": execution_time_ms,
        },
        marks=(),
    )


def outcome(call_id: str, name: str, answer: UpstreamResult, measured_ms: float) -> ToolOutcome:
    """The outcome of ``answer``. A server's own ``execution_time_ms`` precedes the measured one."""
    reported_ms = foreign_number((answer.meta or {}).get("execution_time_ms"))
    shared = {"tool_name": name, "execution_time_ms": measured_ms if reported_ms is None else reported_ms}
    parts = tuple(Part(str(block.get("type")), block) for block in answer.content)
    if answer.is_error:
        result = {"success": False, **_error(answer), **shared}
    else:
        result = {"success": True, "result": _value(answer), **shared}
    return ToolOutcome(call_id, name, result, parts, answer.structured, marks=_opened(answer))


def _opened(answer: UpstreamResult) -> tuple[Mark, ...] | None:
    """The marks of files that were read by other names than the call says; ``None`` without such files."""
    paths: Any = (answer.meta or {}).get(_OPENED_META)
    return marks_of_paths(cast("Any", paths)) if isinstance(paths, list) else None


def _value(answer: UpstreamResult) -> Any:
    texts = _texts(answer)
    if answer.has_structured:
        return _unwrapped(answer.structured, texts) if answer.wraps else answer.structured
    if len(texts) == len(answer.content):
        return "\n".join(texts)
    return [dict(block) for block in answer.content]


def _unwrapped(structured: Any, texts: list[str]) -> Any:
    """``structured`` without the ``{"result": …}`` that servers must put around a value that is not an object
    before 2026-07-28: recognised by the text, which shows the value without it.
    """
    if not isinstance(structured, dict) or len(texts) != 1:
        return cast("Any", structured)
    wrapped = cast("dict[str, Any]", structured)
    if set(wrapped) != {"result"}:
        return wrapped
    value = wrapped["result"]
    if isinstance(value, str):
        return value if texts[0] == value else wrapped
    return value if not isinstance(value, dict) and _same_json(texts[0], value) else wrapped


def _same_json(text: str, value: Any) -> bool:
    try:
        return json.dumps(json.loads(text), sort_keys=True) == json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return False


def _error(answer: UpstreamResult) -> dict[str, Any]:
    texts = _texts(answer)
    given = _error_object(answer.structured)
    if given is None and len(texts) == 1:
        given = _error_object(_parsed(texts[0]))
    if given is None:
        error = "\n".join(text for text in texts if text.strip())
        given = {"error": error or "The tool reported an error without a message."}
    return {
        "error": given["error"],
        "error_code": _text_or(given.get("error_code"), "tool_error")[:_MOST_CODE],
        "user_action": _text_or(given.get("user_action"), TOOL_ERROR_ACTION),
    }


def _error_object(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    given = cast("dict[str, Any]", value)
    return given if given.get("success") is False and isinstance(given.get("error"), str) else None


def _parsed(text: str) -> Any:
    try:
        return read_foreign_json(text)
    except ValueError:
        return None


def _texts(answer: UpstreamResult) -> list[str]:
    return [str(block["text"]) for block in answer.content if block.get("type") == "text"]


def _text_or(value: Any, default: str) -> str:
    return value if isinstance(value, str) and value else default
