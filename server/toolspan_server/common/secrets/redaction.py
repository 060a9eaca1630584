"""Removes secret values from texts, in all spellings."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

SHORTEST_SECRET = 4
"""Values shorter than this are not taken out of texts: they occur in any text by chance, so that
replacing them would garble every message, and nothing that short keeps a secret."""

SHORTEST_IN_BASE64 = 8
"""Values of fewer bytes are not looked for in Base64: what is looked for would occur there by chance."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_LETTERS = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r"}
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_PARTS = re.compile(r"\\+|.", re.DOTALL)
_AGAIN = r"\\{1,8}"
"""The backslash of an escape, itself escaped up to three times. Bounded, so that no text takes long."""


def pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of ``values`` in any spelling, the longest first; ``None`` when there are none.

    A spelling is the value itself, with or without space around it; what Python, JSON and URLs make of it,
    also when it is escaped again, as one error's message within another's. ``Redactor`` finds Base64 too.
    """
    return _pattern_of(frozenset(values))


@lru_cache(maxsize=256)
def _pattern_of(values: frozenset[str]) -> re.Pattern[str] | None:
    wanted = {each for value in values for each in (value, value.strip()) if _is_long(each)}
    return _any_of(map(_spelled, wanted)) if wanted else None


class Redactor:
    """Removes ``values`` from texts, in any spelling that ``pattern`` finds and in Base64; ``mark`` stands in
    place of each."""

    def __init__(self, values: Iterable[str], mark: str = "***") -> None:
        values = frozenset(values)
        self.in_base64 = InBase64(values, mark)
        self._pattern = pattern(values)
        self._mark = mark

    def __bool__(self) -> bool:
        """Whether there is anything to remove."""
        return self._pattern is not None

    def __call__(self, text: str) -> str:
        return text if self._pattern is None else self.in_base64(self._pattern.sub(self._mark, text))


@lru_cache(maxsize=256)
def redactor_of(values: frozenset[str], mark: str = "***") -> Redactor:
    """The ``Redactor`` of ``values``, made once."""
    return Redactor(values, mark)


class InBase64:
    """Removes ``values`` from texts where they are part of Base64 data.

    Wherever a value begins in the data, its inner characters are the same for each of three alignments: those
    are looked for, in either alphabet. A text that is Base64 as a whole stays so: it has zeros there. Of a
    value's first and last byte some bits may stay. Values shorter than ``SHORTEST_IN_BASE64`` are not found.
    """

    def __init__(self, values: Iterable[str], mark: str = "***") -> None:
        self._mark = mark
        found = {form for value in values for form in _in_base64(value.encode("utf-8", "surrogateescape"))}
        self._forms = sorted(found, key=len, reverse=True)
        self._shortest = min(map(len, found), default=0)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __call__(self, text: str) -> str:
        if len(text) < self._shortest:
            return text
        for form in self._forms:
            if form in text:
                whole = _BASE64.fullmatch(text) is not None
                text = text.replace(form, "A" * len(form) if whole else self._mark)
        return text


class Renamed:
    """Replaces each value in a text that is a key of ``names`` by what it maps to.

    A value shorter than ``SHORTEST_SECRET`` is replaced only where it stands alone in quotes.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        quoted = {re.escape(repr(value)): repr(name) for value, name in names.items()}
        long = {_spelled(value): name for value, name in names.items() if _is_long(value)}
        self._wanted = list({**long, **quoted}.items())
        self._wanted.sort(key=lambda pair: len(pair[0]), reverse=True)
        groups = "|".join(f"({spelling})" for spelling, _ in self._wanted)
        self._pattern = re.compile(groups) if groups else None

    def __call__(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._wanted[(match.lastindex or 1) - 1][1], text)


def _in_base64(value: bytes) -> Iterator[str]:
    """The characters of ``value`` in Base64 that hold nothing of what is before and after it."""
    if len(value) < SHORTEST_IN_BASE64:
        return
    for before in range(3):
        written = b2a_base64(bytes(before) + value, newline=False).decode()
        inner = written[-(-before * 8 // 6) : (before + len(value)) * 8 // 6]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))


def _is_long(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET


def _spelled(value: str) -> str:
    """An expression for ``value`` where each character may be escaped, and escaped again."""
    return "".join(_character(part.group()) for part in _PARTS.finditer(value))


def _character(character: str) -> str:
    """An expression for one character, or for a run of backslashes."""
    if _UNRESERVED.fullmatch(character):
        return re.escape(character)
    if character[0] == "\\":
        count = len(character)
        return rf"(?:\\{{{count},{count * 8}}}|(?i:(?:%(?:25){{0,3}}5c){{{count}}}))"
    data = character.encode("utf-8", "surrogatepass")
    ways = [
        rf"\\{{0,7}}{re.escape(character)}",
        "".join(rf"(?i:%(?:25){{0,3}}{byte:02x})" for byte in data),
    ]
    if character == " ":
        ways.append(r"\+")
    if not (character.isascii() and character.isprintable()):
        ways += _escapes(character, data)
    return f"(?:{'|'.join(ways)})"


def _escapes(character: str, data: bytes) -> list[str]:
    """How Python and JSON write a character that they do not print as it is."""
    code = ord(character)
    utf16 = character.encode("utf-16-be", "surrogatepass")
    ways = [
        f"{_AGAIN}U{code:08x}",
        "".join(f"{_AGAIN}x{byte:02x}" for byte in data),
        "".join(f"{_AGAIN}u{utf16[at : at + 2].hex()}" for at in range(0, len(utf16), 2)),
    ]
    ways += [f"{_AGAIN}x{code:02x}"] if code < 0x100 else []
    ways += [f"{_AGAIN}{_LETTERS[character]}"] if character in _LETTERS else []
    return [f"(?i:{way})" for way in ways]


def _any_of(expressions: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(expressions, key=len, reverse=True)))
