"""A conversation on disk: every message exactly as it was, to be gone on with later, with any provider.

    {"toolspan_conversation": 1, "messages": [
        {"role": "user", "text", "parts": [{"type", "data"}]},
        {"role": "assistant", "text", "calls": [{"id", "name", "arguments", "raw", "malformed", "opaque"}],
         "opaque", "opaque_format", "incomplete", "origin",
         "citations": [{"url", "title", "start", "end", "quoted"}]},
        {"role": "tool_results", "outcomes": [{"call_id", "name", "result", "parts", "structured",
          "approval"}]}],
     "id", "usd", "instructions",
     "beginnings": {"PROVIDER/MODEL": {"system", "tools": [{"server", "name", "description", "schema", …}]}}}

What a provider must get back verbatim is kept as ``opaque``. It goes to its own format only, at the provider
that it came from. Files without ``id`` and what follows it are older, and as good.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from ._files import replace_file
from .errors import StoreError, UsageError
from .messages import (
    Assistant,
    Citation,
    Message,
    Part,
    ToolCall,
    ToolOutcome,
    ToolResults,
    ToolSpec,
    User,
)

__all__ = ["MAX_BYTES", "VERSION", "Beginning", "Conversation"]

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""The largest file that is written or read."""

_MARK = "toolspan_conversation"
_ROLES: dict[str, type[Message]] = {"user": User, "assistant": Assistant, "tool_results": ToolResults}
_T = TypeVar("_T")
_Read = Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What every request of a conversation to one model begins with: providers keep it, and some bind the
    model's thoughts to it. Tools may only be added, at its end."""

    system: str
    tools: tuple[ToolSpec, ...] = ()


class Conversation:
    """The messages of a conversation, to be gone on with by any provider and kept in a file.

    It is the ``transcript`` that ``run`` and ``answer`` take: each question and what came of it is added to
    ``messages``. ``id`` is its own random name. ``beginnings`` are what the requests to each model
    (``provider/model``) begin with, and ``instructions`` is the last system prompt that was given later, in
    a message, or ``None``. ``usd`` is what it cost so far, ``None`` where that is unknown.
    The file is JSON: ``{"toolspan_conversation": 1, "messages": [{"role", …}], "id", …}``.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages: list[Message] = list(messages)
        self.id = secrets.token_hex(16)
        self.beginnings: dict[str, Beginning] = {}
        self.instructions: str | None = None
        self.usd: float | None = None if self.messages else 0.0

    @classmethod
    def over(cls, messages: list[Message]) -> Self:
        """A conversation whose messages are the list ``messages`` itself."""
        conversation = cls()
        conversation.messages = messages
        return conversation

    def refresh(self) -> None:
        """Let the next request to each model begin with the system prompt and the tools of its question.

        What providers keep of the earlier beginning is of no use then, and models' thoughts may be lost.
        """
        self.beginnings.clear()

    def spend(self, usd: float | None) -> None:
        """Add a question's cost in US dollars; ``None`` makes that of the whole unknown."""
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def to_json(self) -> bytes:
        """The conversation as JSON, at most 64 MiB. Raises ``StoreError`` when it holds more, or no JSON."""
        roles = {record: role for role, record in _ROLES.items()}
        written = [{"role": roles[type(message)], **_plain(message)} for message in self.messages]
        try:
            data = json.dumps({_MARK: VERSION, "messages": written, **self._kept()}, indent=1).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the conversation cannot be written as JSON: {error}") from None
        if len(data) > MAX_BYTES:
            raise StoreError(
                f"the conversation is too large to be saved: {len(data):,} of {MAX_BYTES:,} bytes"
            )
        return data

    def _kept(self) -> dict[str, Any]:
        beginnings = {model: _plain(beginning) for model, beginning in self.beginnings.items()}
        return {
            "id": self.id,
            "usd": self.usd,
            "instructions": self.instructions,
            "beginnings": beginnings,
        }

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The conversation in ``data``. Raises ``UsageError`` that says what is wrong, and where."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"it is no JSON, or damaged ({str(error)[:200]})") from None
        whole = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        version = whole.get(_MARK)
        if type(version) is not int or version < 1:
            raise UsageError("it is no saved conversation")
        if version > VERSION:
            raise UsageError(
                f"a newer toolspan saved it (version {version}, this one reads {VERSION}): upgrade"
            )
        found = cls(_many(_message)(whole.get("messages"), "$.messages"))
        found.id = _text(whole.get("id", found.id), "$.id")
        if (instructions := whole.get("instructions")) is not None:
            found.instructions = _text(instructions, "$.instructions")
        found.usd = _amount(whole.get("usd", found.usd), "$.usd")
        for model, beginning in _object(whole.get("beginnings", {}), "$.beginnings").items():
            found.beginnings[model] = _record(Beginning)(beginning, f"$.beginnings.{model}")
        return found

    def save(self, path: Path) -> None:
        """Put the conversation into ``path``, whole or not at all; only its owner may read a new file.

        Raises ``StoreError`` when it cannot be written; what was there before is there still.
        """
        data = self.to_json()
        try:
            replace_file(path.resolve(), data)
        except OSError as fault:
            raise StoreError(f"the conversation cannot be saved as {path}: {fault.strerror}") from None

    @classmethod
    def load(cls, path: Path) -> Self:
        """The conversation in ``path``. Raises ``UsageError`` when there is none that can be read."""
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise UsageError(f"it is larger than {MAX_BYTES:,} bytes")
            return cls.from_json(data)
        except OSError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault.strerror}") from None
        except UsageError as fault:
            raise UsageError(f"the conversation {path} cannot be read: {fault}") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


def _message(value: Any, where: str) -> Message:
    given = _object(value, where)
    role = given.get("role")
    record = _ROLES.get(role) if isinstance(role, str) else None
    if record is None:
        raise UsageError(f"{where}.role: must be one of {', '.join(_ROLES)}")
    return _record(record)({key: item for key, item in given.items() if key != "role"}, where)


def _record(kind: type[_T]) -> Callable[[Any, str], _T]:
    def read(value: Any, where: str) -> _T:
        given, known = _object(value, where), _KEYS[kind]
        if unknown := sorted(given.keys() - known.keys()):
            raise UsageError(f"{where}: unknown {', '.join(unknown)}")
        needed = {field.name for field in fields(cast("Any", kind)) if field.default is MISSING}
        if missing := sorted(needed - given.keys()):
            raise UsageError(f"{where}: {', '.join(missing)} is missing")
        return kind(**{key: known[key](item, f"{where}.{key}") for key, item in given.items()})

    return read


def _many(read: Callable[[Any, str], _T]) -> Callable[[Any, str], tuple[_T, ...]]:
    def items(value: Any, where: str) -> tuple[_T, ...]:
        if not isinstance(value, list):
            raise UsageError(f"{where}: must be a list")
        listed = cast("Sequence[Any]", value)
        return tuple(read(item, f"{where}[{place}]") for place, item in enumerate(listed))

    return items


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where}: must be an object")
    return cast("dict[str, Any]", value)


def _object_or_null(value: Any, where: str) -> dict[str, Any] | None:
    return None if value is None else _object(value, where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: must be a text")
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{where}: must be true or false")
    return value


def _place(value: Any, where: str) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        raise UsageError(f"{where}: must be a whole number from 0, or null")
    return value


def _amount(value: Any, where: str) -> float | None:
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool) or value < 0):
        raise UsageError(f"{where}: must be a number from 0, or null")
    return value


def _number(value: Any, where: str) -> int:
    if type(value) is not int:
        raise UsageError(f"{where}: must be a whole number")
    return value


def _json(value: Any, where: str) -> Any:
    return value


_KEYS: dict[type, dict[str, _Read]] = {
    Part: {"type": _text, "data": _object},
    Citation: {"url": _text, "title": _text, "start": _place, "end": _place, "quoted": _text},
    ToolCall: {
        "id": _text,
        "name": _text,
        "arguments": _object_or_null,
        "raw": _text,
        "malformed": _text,
        "opaque": _json,
    },
    ToolOutcome: {
        "call_id": _text,
        "name": _text,
        "result": _object,
        "parts": _many(_record(Part)),
        "structured": _json,
        "approval": _object_or_null,
    },
    User: {"text": _text, "parts": _many(_record(Part))},
    Assistant: {
        "text": _text,
        "calls": _many(_record(ToolCall)),
        "opaque": _json,
        "opaque_format": _text,
        "incomplete": _flag,
        "origin": _text,
        "citations": _many(_record(Citation)),
    },
    ToolResults: {"outcomes": _many(_record(ToolOutcome))},
    ToolSpec: {
        "server": _text,
        "name": _text,
        "description": _text,
        "schema": _object,
        "output_schema": _object_or_null,
        "strict": _flag,
        "late": _number,
    },
    Beginning: {"system": _text, "tools": _many(_record(ToolSpec))},
}
