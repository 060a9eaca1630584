"""A provider's error answer: its message, and whether and when to retry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolspan_server.common.retry_waits import seconds_until

from ..contract import WireError
from ..json_values import (
    as_list,
    as_object,
    clean,
    compact,
    count,
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
    tool: str | int | None = None,
    codes: Sequence[str] = (),
    param: str = "",
) -> WireError:
    """The parsed error. ``final`` and ``retryable`` take precedence over the status.

    ``codes`` are the provider's words beside ``kind``, ``param`` is the place in the request that it names.
    An error that the same request would meet again is never retryable.
    """
    from ..faults import find_fault  # its patterns take long to compile, and few answers are errors

    lower = {name.lower(): value for name, value in headers.items()}
    reported = message.strip() or snippet(body) or f"HTTP status {status} without a message"
    found = find_fault(status, (kind, *codes), reported, param=param, names_tool=tool is not None)
    final = final or found.fault != "other"
    again = (retryable or status in _RETRYABLE or status >= 500) and not final
    asked = lower.get("x-should-retry", "").strip().lower()
    if asked in ("true", "false") and not final:
        again = asked == "true"
    after = _retry_after(lower)
    return WireError(
        status,
        kind,
        reported,
        again,
        retry_after if after is None else after,
        tool,
        found.fault,
        found.parameter,
        found.counted_tokens,
        found.maximum_tokens,
    )


def error_for_answer(error: Any) -> WireError:
    """The error that came with HTTP 200 in the place of an answer, by the status that it names, if any."""
    named = as_object(error) or {}
    status = next((code for key in ("code", "status") if 400 <= (code := count(named.get(key))) < 600), 500)
    kind = next((word for key in ("type", "status", "code") if (word := text(named.get(key)))), "")
    message = f"the answer is an error: {text(named.get('message')) or snippet(compact(error))}"
    return wire_error(status, {}, b"", kind=kind, message=message)


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
