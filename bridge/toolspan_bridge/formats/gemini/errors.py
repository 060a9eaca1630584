"""Gemini's error answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..shared.contract import WireError
from ..shared.json_values import (
    as_object,
    compact,
    count,
    objects,
    text,
)
from ..shared.replies.errors import error_body, seconds, wire_error

_DECLARED = re.compile(r"function_?declarations?\[(\d{1,4})\]", re.IGNORECASE)
_NAMED = re.compile(r"[Dd]uplicate function declaration(?: found)?:? '?([A-Za-z0-9_.:-]{1,128})")


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """``{"error": {"message", "status", "details"}}``, also in a list of one.

    A refused tool is named by its place (``function_declarations[3]``), or as a duplicate by its name.
    """
    error = as_object(error_body(body).get("error")) or {}
    delays = [seconds(detail.get("retryDelay")) for detail in objects(error.get("details"))]
    message = text(error.get("message"))
    return wire_error(
        status,
        headers,
        body,
        kind=text(error.get("status")),
        message=message,
        retry_after=next((delay for delay in delays if delay is not None), None),
        tool=_refused_tool(message) if status == 400 else None,
    )


def _refused_tool(message: str) -> str | int | None:
    named, place = _NAMED.search(message), _DECLARED.search(message)
    return named[1] if named else int(place[1]) if place else None


def error_in_stream(error: dict[str, Any]) -> WireError:
    """An error after HTTP 200, by the status that it would have had."""
    code = count(error.get("code"))
    status = code if 400 <= code < 600 else 500
    return parse_error(status, {}, compact({"error": error}).encode("utf-8", "replace"))
