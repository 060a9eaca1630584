"""The JSON of what a recording keeps: replies, errors, definitions of tools, and a trial's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, cast, get_args

from toolspan_server.engines.definitions import Fingerprint
from toolspan_server.engines.upstreams import ListedTool

from ... import errors
from ...conversation.message_json import (
    count_of,
    flag_of,
    items_of,
    message_data,
    object_of,
    plain,
    read_message,
    record_of,
    text_of,
)
from ...errors import BridgeError, UsageError
from ...messages import Assistant, Failure, Reply, StopReason, ToolCall, Usage
from .._clean import Redact, clean
from ..runs.attempt import Place
from ..storage.trial import Trial

__all__ = [
    "error_data",
    "listed_data",
    "place_data",
    "read_error",
    "read_listed",
    "read_place",
    "read_reply",
    "redacted",
    "reply_data",
]

_OF_ERRORS = ("status", "kind", "tool", "fault", "parameter", "counted_tokens", "maximum_tokens")


def reply_data(reply: Reply) -> dict[str, Any]:
    """``reply`` as JSON: its fields."""
    return {**plain(reply), "message": message_data(reply.message)}


def _message(value: Any, where: str) -> Assistant:
    message = read_message(value, where)
    if not isinstance(message, Assistant):
        raise UsageError(f"{where}: must be a message of the model")
    return message


def _stop(value: Any, where: str) -> StopReason:
    if value not in get_args(StopReason):
        raise UsageError(f"{where}: must be one of {', '.join(get_args(StopReason))}")
    return cast("StopReason", value)


_usage = record_of(
    Usage,
    {
        "input_tokens": count_of,
        "output_tokens": count_of,
        "cached_tokens": count_of,
        "reasoning_tokens": count_of,
        "written_tokens": count_of,
        "raw": items_of(object_of),
        "dearer": flag_of,
    },
)


def _flag_or_none(value: Any, where: str) -> bool | None:
    return None if value is None else flag_of(value, where)


_read_failure = record_of(Failure, {"status": count_of, "kind": text_of, "retryable": _flag_or_none})


def _failure(value: Any, where: str) -> Failure | None:
    return None if value is None else _read_failure(value, where)


read_reply = record_of(
    Reply,
    {
        "message": _message,
        "stop": _stop,
        "usage": _usage,
        "cut_calls": items_of(record_of(ToolCall)),
        "incomplete": flag_of,
        "trouble": text_of,
        "attempts": count_of,
        "notes": items_of(text_of),
        "rescued": flag_of,
        "finish": text_of,
        "failure": _failure,
        "only_thought": flag_of,
    },
)
"""Reads the JSON of ``reply_data``."""


def error_data(error: BridgeError) -> dict[str, Any]:
    """``error`` as JSON: ``{"type", "message", "variables"}``, and what else is known of a provider's."""
    more = {name: getattr(error, name) for name in _OF_ERRORS if hasattr(error, name)}
    named = {"type": type(error).__name__, "message": error.message, "variables": list(error.variables)}
    return named | more


def read_error(value: Any, where: str) -> BridgeError:
    """The error of ``error_data``."""
    given = object_of(value, where)
    found = getattr(errors, text_of(given.get("type"), f"{where}.type"), None)
    if not (isinstance(found, type) and issubclass(found, BridgeError)):
        raise UsageError(f"{where}.type: no such error")
    error = found(text_of(given.get("message"), f"{where}.message"))
    error.variables = items_of(text_of)(given.get("variables", []), f"{where}.variables")
    for name in _OF_ERRORS:
        if name in given and hasattr(error, name):
            setattr(error, name, given[name])
    return error


def listed_data(tool: ListedTool) -> dict[str, Any]:
    """The definition of ``tool`` as JSON."""
    return {
        "name": tool.name,
        "description": tool.description,
        "schema": dict(tool.schema),
        "details": dict(tool.details),
        "digest": tool.fingerprint.digest,
    }


def read_listed(value: Any, where: str) -> ListedTool:
    """The definition of ``listed_data``."""
    given = object_of(value, where)
    texts = (text_of(given.get(key), f"{where}.{key}") for key in ("name", "description", "digest"))
    name, words, digest = texts
    schema, details = (object_of(given.get(key), f"{where}.{key}") for key in ("schema", "details"))
    return ListedTool(name, words, schema, details, Fingerprint(digest, {}))


def place_data(place: Place) -> dict[str, Any]:
    """``{"model", "suite", "scenario", "number"}``."""
    return asdict(place)


def read_place(value: Any, where: str) -> Place:
    """The place of ``place_data``."""
    given: Mapping[str, Any] = object_of(value, where)
    model, suite, scenario = (
        text_of(given.get(key), f"{where}.{key}") for key in ("model", "suite", "scenario")
    )
    return Place(model, suite, scenario, count_of(given.get("number"), f"{where}.number"))


def redacted(trial: Trial, redact: Redact) -> Trial:
    """``trial`` without what ``redact`` takes out of its texts."""
    return replace(trial, error=redact(trial.error), details=clean(trial.details, redact))
