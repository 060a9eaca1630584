"""A Responses answer, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import Reply, StopReason
from ..shared.contract import StreamFailed
from ..shared.json_values import (
    as_list,
    at,
    objects,
    text,
)
from ..shared.openai_errors import failed_in_stream
from ..shared.openai_usage import usage_of
from ..shared.replies.parse import (
    WireCall,
    missing,
    read_body,
    reply,
)
from ..shared.replies.stops import stop_reason
from .citations import citations
from .echo import FORMAT
from .parts import message_text

_UNFINISHED = ("in_progress", "incomplete", "failed")


def parse_reply(body: Any) -> Reply:
    """``output``, its items kept to be sent back.

    Calls are set aside unless the whole answer and each of them is complete, and so is the state of a turn
    that was cut off: its words remain. Raises ``FormatError`` when there is no output.
    """
    body = read_body(body)
    given = as_list(body.get("output"))
    if given is None or body.get("status") in ("queued", "in_progress"):
        raise missing("finished output", body)
    if body.get("status") == "failed":
        raise StreamFailed(failed_in_stream({}))
    items = objects(given)
    calls = [item for item in items if item.get("type") == "function_call"]
    unfinished = any(item.get("status") in _UNFINISHED for item in calls)
    incomplete = body.get("status") not in (None, "", "completed")
    stop = _stop(items) if not incomplete else _broken(_reason(body))
    return reply(
        message_text(items) or text(body.get("output_text")),
        [WireCall(item.get("call_id"), _name(item), item.get("arguments")) for item in calls],
        body=body,
        stop="error" if unfinished and stop == "stop" else stop,
        finish=_reason(body) if incomplete else "",
        usage=usage_of(body, "input", "output"),
        opaque=items if items and (stop == "pause" or not incomplete) else None,
        format_name=FORMAT,
        aside=incomplete or unfinished,
        citations=list(citations(items)),
    )


def _name(call: Mapping[str, Any]) -> str:
    """The tool's name alone, of one in a namespace too."""
    namespace = text(call.get("namespace"))
    return text(call.get("name")).removeprefix(f"{namespace}." if namespace else "")


def _broken(reason: str) -> StopReason:
    """Why an answer is incomplete, also for a reason that is new."""
    stop = stop_reason(reason, missing="error")
    return "error" if stop in ("other", "stop") else stop


def _reason(body: Mapping[str, Any]) -> str:
    return text(at(body, "incomplete_details", "reason"))


def _stop(items: Sequence[Mapping[str, Any]]) -> StopReason:
    refused = any(part.get("type") == "refusal" for item in items for part in objects(item.get("content")))
    return "refusal" if refused else "stop"
