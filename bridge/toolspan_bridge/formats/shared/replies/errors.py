"""A provider's error answer: its message, and whether and when to retry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolspan_server.common.retry_waits import seconds_until

from ..contract import WireError
from ..json_values import (
    as_list,
    as_object,
    clean,
    load,
    snippet,
    text,
)

_RETRYABLE = frozenset({408, 409, 429})


def error_body(body: bytes) -> dict[str, Any]:
    """The JSON object of an error answer, also when it is in a list of one; empty when there is none."""
    try:
        value = load(body)
    except ValueError:
        return {}
    listed = as_list(value)
    value = listed[0] if listed else value
    return as_object(clean(value)) or {}


def wire_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    kind: str,
    message: str,
    final: bool = False,
    retryable: bool = False,
    retry_after: float | None = None,
) -> WireError:
    """The parsed error. ``final`` and ``retryable`` take precedence over the status."""
    lower = {name.lower(): value for name, value in headers.items()}
    again = (retryable or status in _RETRYABLE or status >= 500) and not final
    asked = lower.get("x-should-retry", "").strip().lower()
    if asked in ("true", "false") and not final:
        again = asked == "true"
    after = _retry_after(lower)
    reported = message.strip() or snippet(body) or f"HTTP status {status} without a message"
    return WireError(status, kind, reported, again, retry_after if after is None else after)


def seconds(value: Any) -> float | None:
    """A protobuf duration such as ``1.5s``."""
    written = text(value)
    return _number(written[:-1]) if written.endswith("s") else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    number = _number(value)
    return number if number is not None or not value else seconds_until(value, headers.get("date", ""))


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
