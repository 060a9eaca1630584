"""Messages and tools as JSON, and read back: each record an object of its fields.

The ``role`` of a message is ``user``, ``assistant`` or ``tool_results``. What reads a value takes the value
and its place (``$.messages[2]``), and raises ``UsageError`` that says what is wrong there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

from ..errors import UsageError
from ..messages import (
    Assistant,
    Citation,
    Mark,
    Message,
    Part,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)

__all__ = [
    "amount",
    "count_of",
    "flag_of",
    "items_of",
    "json_of",
    "message_data",
    "object_of",
    "plain",
    "read_message",
    "record_of",
    "text_of",
]

_ROLES: dict[str, type[Message]] = {"user": User, "assistant": Assistant, "tool_results": ToolResults}
_NAMES = {record: role for role, record in _ROLES.items()}
_T = TypeVar("_T")
_Read = Callable[[Any, str], Any]


def message_data(message: Message) -> dict[str, Any]:
    """``message`` as a JSON object: its ``role`` and its fields."""
    return {"role": _NAMES[type(message)], **plain(message)}


def plain(value: Any) -> Any:
    """A record, or what holds records, as JSON."""
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _fields_of(cast("Any", type(value)))}
    if isinstance(value, tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


@cache
def _fields_of(record: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cast("Any", record)))


def read_message(value: Any, where: str) -> Message:
    """The message of ``message_data``."""
    given = object_of(value, where)
    role = given.get("role")
    record = _ROLES.get(role) if isinstance(role, str) else None
    if record is None:
        raise UsageError(f"{where}.role: must be one of {', '.join(_ROLES)}")
    return record_of(record)({key: item for key, item in given.items() if key != "role"}, where)


def record_of(kind: type[_T], keys: Mapping[str, _Read] | None = None) -> Callable[[Any, str], _T]:
    """Reads a record; ``keys`` says what reads each field of one that is not of ``messages``."""

    def read(value: Any, where: str) -> _T:
        given, known = object_of(value, where), _KEYS[kind] if keys is None else keys
        if unknown := sorted(given.keys() - known.keys()):
            raise UsageError(f"{where}: unknown {', '.join(unknown)}")
        needed = {field.name for field in fields(cast("Any", kind)) if field.default is MISSING}
        if missing := sorted(needed - given.keys()):
            raise UsageError(f"{where}: {', '.join(missing)} is missing")
        return kind(**{key: known[key](item, f"{where}.{key}") for key, item in given.items()})

    return read


def items_of(read: Callable[[Any, str], _T]) -> Callable[[Any, str], tuple[_T, ...]]:
    """Reads a list of what ``read`` reads."""

    def items(value: Any, where: str) -> tuple[_T, ...]:
        if not isinstance(value, list):
            raise UsageError(f"{where}: must be a list")
        listed = cast("Sequence[Any]", value)
        return tuple(read(item, f"{where}[{place}]") for place, item in enumerate(listed))

    return items


def object_of(value: Any, where: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise UsageError(f"{where}: must be an object")
    return cast("dict[str, Any]", value)


def _object_or_null(value: Any, where: str) -> dict[str, Any] | None:
    return None if value is None else object_of(value, where)


def text_of(value: Any, where: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UsageError(f"{where}: must be a text")
    return value


def _text_or_null(value: Any, where: str) -> str | None:
    return None if value is None else text_of(value, where)


def flag_of(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise UsageError(f"{where}: must be true or false")
    return value


def _place(value: Any, where: str) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        raise UsageError(f"{where}: must be a whole number from 0, or null")
    return value


def amount(value: Any, where: str) -> float | None:
    """A number from 0, or ``None``."""
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool) or value < 0):
        raise UsageError(f"{where}: must be a number from 0, or null")
    return value


def count_of(value: Any, where: str) -> int:
    """A whole number from 0."""
    if (number := _number(value, where)) < 0:
        raise UsageError(f"{where}: must be a whole number from 0")
    return number


def _number(value: Any, where: str) -> int:
    if type(value) is not int:
        raise UsageError(f"{where}: must be a whole number")
    return value


def _kind(value: Any, where: str) -> str:
    if value not in ("secret", "foreign"):
        raise UsageError(f"{where}: must be secret or foreign")
    return str(value)


def _marks(value: Any, where: str) -> tuple[Mark, ...] | None:
    return None if value is None else items_of(record_of(Mark))(value, where)


def json_of(value: Any, where: str) -> Any:
    """Any JSON value."""
    return value


_KEYS: dict[type, dict[str, _Read]] = {
    Part: {"type": text_of, "data": object_of},
    Mark: {"kind": _kind, "what": text_of, "source": text_of},
    Citation: {"url": text_of, "title": text_of, "start": _place, "end": _place, "quoted": text_of},
    ToolCall: {
        "id": text_of,
        "name": text_of,
        "arguments": _object_or_null,
        "raw": text_of,
        "malformed": text_of,
        "opaque": json_of,
    },
    ToolOutcome: {
        "call_id": text_of,
        "name": text_of,
        "result": object_of,
        "parts": items_of(record_of(Part)),
        "structured": json_of,
        "approval": _object_or_null,
        "cut": _place,
        "marks": _marks,
    },
    User: {
        "text": text_of,
        "parts": items_of(record_of(Part)),
        "typed": _text_or_null,
        "marks": items_of(record_of(Mark)),
    },
    Assistant: {
        "text": text_of,
        "calls": items_of(record_of(ToolCall)),
        "opaque": json_of,
        "opaque_format": text_of,
        "incomplete": flag_of,
        "origin": text_of,
        "citations": items_of(record_of(Citation)),
        "written": text_of,
    },
    ToolResults: {"outcomes": items_of(record_of(ToolOutcome))},
    ToolSpec: {
        "server": text_of,
        "name": text_of,
        "description": text_of,
        "schema": object_of,
        "output_schema": _object_or_null,
        "strict": flag_of,
        "late": _number,
    },
}
