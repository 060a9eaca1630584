"""From the text of a template to its parts."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from ...common.did_you_mean import nearest
from ._errors import Path, TemplateError
from ._filters import FILTERS, filter_names

_OPEN = "{{"
_CLOSE = r"\s*\}\}"
_SPACE = r"\s*"
_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_INDEX = r"-?[0-9]{1,9}"
_TEXT = r'"(?:[^"\\]|\\.)*"|\'[^\']*\''
_SCALAR = r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?|true|false|null"

NOTHING: Any = object()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


class FilterUse:
    """A filter's use: its name and the argument, ``NOTHING`` without one."""

    __slots__ = ("argument", "name")

    def __init__(self, name: str, argument: Any) -> None:
        self.name = name
        self.argument = argument


class Expression:
    """What stands in ``{{ }}``: a path, or with an empty one the literal; then filters."""

    __slots__ = ("filters", "literal", "path")

    def __init__(self, path: Path, literal: Any, filters: tuple[FilterUse, ...]) -> None:
        self.path = path
        self.literal = literal
        self.filters = filters


def parse(text: str) -> tuple[str | Expression, ...]:
    """The parts of ``text`` in order. Raises ``TemplateError``."""
    parts: list[str | Expression] = []
    at = 0
    while (start := text.find(_OPEN, at)) >= 0:
        if start > at:
            parts.append(text[at:start])
        reader = _Reader(text, start + len(_OPEN))
        parts.append(reader.expression(start))
        at = reader.at
    if at < len(text):
        parts.append(text[at:])
    return tuple(parts)


def path_of(text: str) -> Path:
    """The path that ``text`` is, such as ``answers.name.action``. Raises ``TemplateError``."""
    reader = _Reader(text, 0)
    path = reader.path()
    if reader.at < len(text):
        raise TemplateError(f"expected the end of the path, not {text[reader.at :][:12]!r}", reader.at)
    return path


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def expression(self, start: int) -> Expression:
        self._take(_SPACE)
        literal: Any = NOTHING
        path: Path = ()
        if self._peek('"', "'"):
            literal = self._literal()
        else:
            path = self.path()
        filters: list[FilterUse] = []
        while self._take(_CLOSE) is None:
            filters.append(self._filter(start))
        return Expression(path, literal, tuple(filters))

    def path(self) -> Path:
        path: list[str | int] = [self._name("the name of a value")]
        while True:
            if self._peek("."):
                self.at += 1
                path.append(self._name("a name after the dot"))
            elif self._peek("["):
                self.at += 1
                path.append(self._key())
            else:
                return tuple(path)

    def _key(self) -> str | int:
        self._take(_SPACE)
        index = self._take(_INDEX)
        key: str | int | None = None
        if index is not None:
            key = int(index)
        elif self._peek('"', "'"):
            key = str(self._literal())
        self._take(_SPACE)
        if key is None or not self._peek("]"):
            raise self._fault('expected [0] or ["key"]')
        self.at += 1
        return key

    def _filter(self, start: int) -> FilterUse:
        self._take(_SPACE)
        if self.at >= len(self._text):
            raise TemplateError("'{{' is not closed by '}}'", start)
        if not self._peek("|"):
            raise self._fault("expected '}}', or '|' and a filter")
        self.at += 1
        self._take(_SPACE)
        place = self.at
        name = self._name("the name of a filter")
        if name not in filter_names():
            raise TemplateError(f"unknown filter {name!r} ({nearest(name, filter_names())})", place)
        argument = self._argument()
        self._check_argument(name, argument, place)
        return FilterUse(name, argument)

    def _check_argument(self, name: str, argument: Any, place: int) -> None:
        if name == "default":
            if argument is NOTHING:
                raise TemplateError("'default' needs a value: default(\"…\")", place)
        elif argument is not NOTHING and not (FILTERS[name][1] and isinstance(argument, str)):
            wanted = "a text" if FILTERS[name][1] else "no argument"
            raise TemplateError(f"{name!r} takes {wanted}", place)

    def _argument(self) -> Any:
        if not self._peek("("):
            return NOTHING
        self.at += 1
        self._take(_SPACE)
        argument = self._literal()
        self._take(_SPACE)
        if not self._peek(")"):
            raise self._fault("expected ')'")
        self.at += 1
        return argument

    def _literal(self) -> Any:
        place = self.at
        if (text := self._take(_TEXT)) is not None:
            try:
                return json.loads(text, strict=False) if text[0] == '"' else text[1:-1]
            except ValueError:
                raise TemplateError("the quoted text has an escape that JSON does not know", place) from None
        if (scalar := self._take(_SCALAR)) is not None:
            return json.loads(scalar)
        raise self._fault("expected a quoted text, a number, true, false or null")

    def _name(self, wanted: str) -> str:
        name = self._take(_NAME)
        if name is None:
            raise self._fault(f"expected {wanted}")
        return name

    def _take(self, pattern: str) -> str | None:
        found = _compiled(pattern).match(self._text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def _peek(self, *starts: str) -> bool:
        return self._text.startswith(starts, self.at)

    def _fault(self, message: str) -> TemplateError:
        rest = self._text[self.at : self.at + 12]
        found = f"not {rest!r}" if rest else "but the template ends"
        return TemplateError(f"{message}, {found}", self.at)
