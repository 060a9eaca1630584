"""JSON with comments and trailing commas, read with the places of its members: so a text can be edited."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_LITERAL = re.compile(r"-?[0-9][0-9eE.+-]*|true|false|null")
_MOST_DEEP = 100


class InvalidJson(ValueError):
    """A text is no JSON; ``offset`` is where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(slots=True)
class Member:
    """One member of an object: from its key to the end of its value, and the comma after it."""

    start: int
    value: Value
    comma: int | None = None


@dataclass(slots=True)
class Value:
    """A value between ``start`` and ``end``; an object's ``members`` by name, and in their order."""

    data: Any
    start: int
    end: int
    members: dict[str, Member] | None = None
    order: list[Member] = field(default_factory=list[Member])


def parsed(text: str) -> Value:
    """The value in ``text``. Raises ``InvalidJson``."""
    reader = _Reader(text)
    value = reader.value(reader.blank(0), 0)
    end = reader.blank(value.end)
    if end != len(text):
        raise InvalidJson("something follows after the end", end)
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        assert match is not None
        return match.end()

    def value(self, at: int, depth: int) -> Value:
        if depth > _MOST_DEEP:
            raise InvalidJson("it is nested too deep", at)
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        match = (_STRING if first == '"' else _LITERAL).match(self._text, at)
        if match is None:
            raise InvalidJson("a value is missing" if first else "it ends too early", at)
        return Value(self._scalar(match.group(), at), at, match.end())

    def _scalar(self, text: str, at: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            raise InvalidJson("this is no value", at) from None

    def _object(self, start: int, depth: int) -> Value:
        found = Value({}, start, start, {})
        assert found.members is not None
        at = self.blank(start + 1)
        while not self._text.startswith("}", at):
            match = _STRING.match(self._text, at)
            if match is None:
                raise InvalidJson("a key in double quotes is missing", at)
            name = self._scalar(match.group(), at)
            colon = self.blank(match.end())
            if not self._text.startswith(":", colon):
                raise InvalidJson("a colon is missing", colon)
            member = Member(at, self.value(self.blank(colon + 1), depth + 1))
            found.members[name] = member
            found.order.append(member)
            found.data[name] = member.value.data
            at, member.comma = self._next(member.value.end, "}")
        found.end = at + 1
        return found

    def _array(self, start: int, depth: int) -> Value:
        found = Value([], start, start)
        at = self.blank(start + 1)
        while not self._text.startswith("]", at):
            item = self.value(at, depth + 1)
            found.data.append(item.data)
            at, _ = self._next(item.end, "]")
        found.end = at + 1
        return found

    def _next(self, at: int, closing: str) -> tuple[int, int | None]:
        """Where the next item or ``closing`` is, and the comma before it."""
        at = self.blank(at)
        if self._text.startswith(",", at):
            return self.blank(at + 1), at
        if not self._text.startswith(closing, at):
            raise InvalidJson(f"a comma or {closing} is missing", at)
        return at, None
