"""Bedrock's errors: as answers, and as frames within a stream."""

from __future__ import annotations

from collections.abc import Mapping

from .claude.parse import named_tool
from .contract import StreamFailed, WireError
from .framing.event_stream import Frame
from .json_values import compact, count, text
from .replies.errors import error_body, wire_error

__all__ = ["frame_error", "parse_error"]

_RETRYABLE = frozenset({"InternalServerException", "ModelNotReadyException", "ModelTimeoutException"})
_STATUSES = {
    "InternalServerException": 500,
    "ModelStreamErrorException": 424,
    "ModelTimeoutException": 408,
    "ServiceUnavailableException": 503,
    "ThrottlingException": 429,
    "ValidationException": 400,
}


def parse_error(status: int, headers: Mapping[str, str], body: bytes) -> WireError:
    """The exception's name from the header or the body, and its message.

    A model's own error (424) may be tried again when the status behind it may.
    """
    answer = error_body(body)
    lower = {name.lower(): value for name, value in headers.items()}
    named = lower.get("x-amzn-errortype") or text(answer.get("__type")) or text(answer.get("code"))
    kind = named.split("#")[-1].split(":")[0].strip()
    behind = count(answer.get("originalStatusCode"))
    again = kind in _RETRYABLE or (status == 424 and (behind == 429 or behind >= 500))
    message = text(answer.get("message")) or text(answer.get("Message"))
    tool = named_tool(message)
    return wire_error(status, headers, body, kind=kind, message=message, retryable=again, tool=tool)


def frame_error(frame: Frame) -> StreamFailed | None:
    """The error in a frame, if any: an exception of the service, or an error of its framing."""
    kind = frame.header(":message-type")
    if kind == "error":
        reported = {"message": frame.header(":error-message") or frame.header(":error-code")}
        headers = {"x-amzn-errortype": frame.header(":error-code")}
        return StreamFailed(parse_error(500, headers, compact(reported).encode()))
    if kind != "exception":
        return None
    name = frame.header(":exception-type")
    name = f"{name[:1].upper()}{name[1:]}"
    return StreamFailed(parse_error(_STATUSES.get(name, 500), {"x-amzn-errortype": name}, frame.payload))
