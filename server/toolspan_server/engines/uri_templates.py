"""URI templates, RFC 6570 levels 1 to 3: a URI made of values, and the values of a URI.

    users://{id}/profile    repo://{+path}    search://items{?q,limit}

A simple variable is one part of a path; ``{+var}`` may hold slashes. The variables of a query are given in
any order, or left out, which is ``""``. A URI is matched in time linear to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

from ..common.re2_patterns import compiled

LONGEST_URI = 8_192
"""In characters; a longer one matches nothing."""

_RESERVED = ":/?#[]@!$&'()*+,;="
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MANY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\*|:[0-9]+)\Z")


class UriTemplateError(ValueError):
    """A text is no URI template of the levels 1 to 3."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """How an expression is written: what comes ``first`` and ``between``, what is ``safe`` unencoded.

    ``value`` is a pattern of one value; where variables are ``named``, of all of them together.
    """

    first: str
    between: str
    safe: str
    value: str
    named: bool = False


_OPERATORS = {
    "": _Operator("", ",", "", r"([^/?#,]+)"),
    "+": _Operator("", ",", _RESERVED, r"(.+)"),
    "#": _Operator("#", ",", _RESERVED, r"(.+)"),
    ".": _Operator(".", ".", "", r"([^/?#]+)"),
    "/": _Operator("/", "/", "", r"([^/?#]+)"),
    ";": _Operator(";", ";", "", r"((?:;[^/?#;]*)*)", named=True),
    "?": _Operator("?", "&", "", r"((?:\?[^#]*)?)", named=True),
    "&": _Operator("&", "&", "", r"((?:&[^#&]*)*)", named=True),
}


@dataclass(frozen=True, slots=True)
class _Expression:
    operator: _Operator
    names: tuple[str, ...]

    def pattern(self) -> str:
        if self.operator.named:
            return self.operator.value
        values = re.escape(self.operator.between).join([self.operator.value] * len(self.names))
        return re.escape(self.operator.first) + values

    def expand(self, values: Mapping[str, str]) -> str:
        operator = self.operator
        given = [(name, _encoded(values[name], operator.safe)) for name in self.names if values.get(name)]
        written = [f"{name}={value}" if operator.named else value for name, value in given]
        return operator.first + operator.between.join(written) if written else ""


class UriTemplate:
    """A template that was read once. ``variables`` are its names, in order."""

    def __init__(self, text: str, parts: Iterable[str | _Expression]) -> None:
        self.text = text
        self._parts = tuple(parts)
        self._expressions = [part for part in self._parts if not isinstance(part, str)]
        self.variables = tuple(name for each in self._expressions for name in each.names)

    @classmethod
    def parse(cls, text: str) -> UriTemplate:
        """``text`` as a template. Raises ``UriTemplateError``."""
        template = cls(text, _parts(text))
        if not template.variables:
            raise UriTemplateError(f"{text!r} has no variable, such as {{id}}")
        for name in template.variables:
            if template.variables.count(name) > 1:
                raise UriTemplateError(f"variable {name!r} occurs twice")
        if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text):
            raise UriTemplateError(f"{text!r} does not start with a scheme, such as docs://")
        return template

    @property
    def crossing(self) -> frozenset[str]:
        """The variables whose values may hold slashes."""
        return frozenset(name for each in self._expressions if each.operator.safe for name in each.names)

    def expand(self, values: Mapping[str, str]) -> str:
        """The URI of ``values``; a variable without a value is left out."""
        return "".join(part if isinstance(part, str) else part.expand(values) for part in self._parts)

    def match(self, uri: str) -> dict[str, str] | None:
        """The values of the variables in ``uri``, decoded; ``None`` when it is no URI of this template."""
        if len(uri) > LONGEST_URI or not _is_text(uri):
            return None
        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        groups = iter(found.groups())
        try:
            values = dict(self._values(groups))
        except (UnicodeDecodeError, KeyError):
            return None
        return {name: values.get(name, "") for name in self.variables}

    def _values(self, groups: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Raises ``KeyError`` for a name that is no variable, or is given twice."""
        left = {name for each in self._expressions if each.operator.named for name in each.names}
        for each in self._expressions:
            if not each.operator.named:
                yield from ((name, unquote(next(groups), errors="strict")) for name in each.names)
                continue
            for pair in filter(
                None, re.split(f"[{each.operator.first}{each.operator.between}]", next(groups))
            ):
                name, _, value = pair.partition("=")
                left.remove(name)
                yield name, unquote(value, errors="strict")

    @cached_property
    def _pattern(self) -> Any:
        written = (re.escape(part) if isinstance(part, str) else part.pattern() for part in self._parts)
        return compiled("".join(written), any_character=True)


def _parts(text: str) -> Iterator[str | _Expression]:
    at = 0
    for found in _EXPRESSION.finditer(text):
        yield _literal(text[at : found.start()])
        yield _expression(found[1])
        at = found.end()
    yield _literal(text[at:])


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise UriTemplateError("a brace has no partner")
    if re.search(r"[\s\x00-\x1f\x7f]", text):
        raise UriTemplateError("a URI has no spaces in it")
    return text


def _expression(inside: str) -> _Expression:
    sign = inside[:1] if inside[:1] in _OPERATORS else ""
    names = inside[len(sign) :].split(",")
    for name in names:
        if _MANY.match(name):
            raise UriTemplateError(f"{{{inside}}} is of level 4 of RFC 6570, which cannot be matched")
        if not _NAME.match(name):
            raise UriTemplateError(f"{{{inside}}} names no variable: letters, digits and _")
    return _Expression(_OPERATORS[sign], tuple(names))


def _encoded(value: str, safe: str) -> str:
    return quote(value, safe=safe, errors="replace")


def _is_text(uri: str) -> bool:
    try:
        uri.encode()
    except UnicodeEncodeError:
        return False
    return True
