"""Java values as models write them, in text, by the rules of BFCL's Java converter: what does not look like a
value of its type stays text, and so fits no answer of another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .patterns import DIGIT, END, SPACE, WORD, all_found, found
from .unscorable import Unscorable

TYPES: dict[str, type] = {
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": bool,
    "char": str,
    "String": str,
    "any": str,
    "Array": list,
    "ArrayList": list,
    "Queue": list,
    "Stack": list,
    "Set": set,
    "HashMap": dict,
    "Hashtable": dict,
}
"""The Python type of each Java type's values."""

_INTEGER = rf"^-?{DIGIT}+{END}"
_LONG = rf"^-?{DIGIT}+[lL]{END}"
_REAL = rf"-?{DIGIT}+(?:\.{DIGIT}+)?(?:[eE][+-]?{DIGIT}+)?"
_DOUBLE = rf"^{_REAL}{END}"
_FLOAT = rf"^{_REAL}[fF]{END}"
_ARRAY = rf"new{SPACE}+{WORD}+\[\]{SPACE}*\{{(.*?)\}}"
_LIST = rf"new{SPACE}+ArrayList<{WORD}*>"
_LIST_OF = rf"{_LIST}\(Arrays\.asList\((.+?)\)\)"
_LIST_ADDED = rf"{_LIST}\(\){SPACE}*\{{\{{{SPACE}*(.+?){SPACE}*\}}\}}"
_LIST_EMPTY = rf"{_LIST}\(\)"
_MAP = rf"new{SPACE}+HashMap<.*?>{SPACE}*\(\)"
_MAP_FILLED = rf"{_MAP}{SPACE}*\{{{SPACE}*\{{?{SPACE}*(.*?){SPACE}*\}}?{SPACE}*\}}"
_PUT = rf"put\(\"(.*?)\",{SPACE}*(.*?)\)"


def java_value(text: str, kind: str, nested: str | None = None) -> Any:
    """``text`` as a value of the Java type ``kind``, of which ``nested`` is the type of the items; ``text``
    itself where it is none.

    Raises ``Unscorable`` for a type that BFCL does not convert.
    """
    if kind in ("String", "char", "any"):
        return text
    if kind == "boolean":
        return text == "true" if text in ("true", "false") else text
    if (reader := _READERS.get(kind)) is not None:
        return reader(text)
    if kind == "Array":
        return _array(text, nested)
    if kind == "ArrayList":
        return _array_list(text, nested)
    if kind == "HashMap":
        return _hash_map(text)
    raise Unscorable(f"values of the Java type {kind!r} are not converted")


def _integer(text: str) -> Any:
    return _whole(text) if found(_INTEGER, text) else text


def _long(text: str) -> Any:
    return _whole(_without(text, "lL")) if found(_LONG, text) else text


def _double(text: str) -> Any:
    return float(text) if found(_DOUBLE, text) else text


def _float(text: str) -> Any:
    return float(_without(text, "fF")) if found(_FLOAT, text) else text


_READERS: dict[str, Callable[[str], Any]] = {
    "byte": _integer,
    "short": _integer,
    "integer": _integer,
    "long": _long,
    "float": _float,
    "double": _double,
}


def _array(text: str, nested: str | None) -> Any:
    match = found(_ARRAY, text)
    if match is None:
        return text
    return [_item(item.strip(), nested) for item in match.group(1).split(",") if item.strip()]


def _array_list(text: str, nested: str | None) -> Any:
    if (match := found(_LIST_OF, text)) is not None:
        return [_listed(item.strip(), nested) for item in match.group(1).split(",")]
    if (match := found(_LIST_ADDED, text, any_character=True)) is not None:
        added = all_found(r"add\((.+?)\)", match.group(1))
        return [_listed(each.group(1).strip(), nested) for each in added]
    return [] if found(_LIST_EMPTY, text) else text


def _hash_map(text: str) -> Any:
    match = found(_MAP_FILLED, text, any_character=True)
    if match is not None:
        return {put.group(1): _guessed(put.group(2).strip()) for put in all_found(_PUT, match.group(1))}
    return {} if found(_MAP, text) else text


def _listed(text: str, nested: str | None) -> Any:
    return text[1:-1] if nested in ("char", "String") else _item(text, nested)


def _item(text: str, nested: str | None) -> Any:
    return java_value(text, nested) if nested else _guessed(text)


def _guessed(text: str) -> Any:
    """``text`` as what it looks like, where no type is known."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if found(_LONG, text):
        return _whole(text[:-1])
    if found(_FLOAT, text):
        return float(_without(text, "fF"))
    return number_or_text(text)


def number_or_text(text: str) -> Any:
    """``text`` as Python reads a number in it, else ``text``."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def whole_number(text: str) -> int:
    """The integer in ``text``, which is digits. Raises ``Unscorable`` for more than Python reads."""
    try:
        return int(text)
    except ValueError as error:
        raise Unscorable(f"an integer of {len(text):,} digits is not read") from error


_whole = whole_number


def _without(text: str, suffixes: str) -> str:
    """``text`` without the letter at its end; a line end after it stays."""
    body = text.removesuffix("\n")
    return body[:-1] if body[-1:] in tuple(suffixes) else body
