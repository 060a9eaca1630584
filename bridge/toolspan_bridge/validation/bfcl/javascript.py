"""JavaScript values as models write them, in text, by the rules of BFCL's JavaScript converter: what does not
look like a value of its type stays text."""

from __future__ import annotations

from typing import Any

from .java import number_or_text, whole_number
from .patterns import DIGIT, END, SPACE, all_found, found
from .unscorable import Unscorable

TYPES: dict[str, type] = {
    "String": str,
    "any": str,
    "integer": int,
    "Bigint": int,
    "float": float,
    "Boolean": bool,
    "dict": dict,
    "array": list,
}
"""The Python type of each JavaScript type's values."""

_INTEGER = rf"^-?{DIGIT}+{END}"
_FLOAT = rf"^-?{DIGIT}+(?:\.{DIGIT}+)?{END}"
_BIGINT = rf"^-?{DIGIT}+n{END}"
_ROW = rf"\[.*?\]{SPACE}*"
_ROWS = rf"{_ROW}(?:,{SPACE}*{_ROW})*"
_TABLE = rf"\A(?:\[{SPACE}*{_ROWS}\]|\bnew{SPACE}+Array\({SPACE}*{_ROWS}\))"
_ARRAY = rf"\A(?:\[(.*?)\]|\bnew{SPACE}+Array\((.*?)\))"


def javascript_value(text: str, kind: str, nested: str | None = None) -> Any:
    """``text`` as a value of the JavaScript type ``kind``, of which ``nested`` is the type of the items;
    ``text`` itself where it is none.

    Raises ``Unscorable`` for a type that BFCL does not convert.
    """
    if kind == "any":
        return text
    if kind == "String":
        return text[1:-1] if _is_quoted(text) else text
    if kind == "Boolean":
        return text == "true" if text in ("true", "false") else text
    if kind == "integer":
        return whole_number(text) if found(_INTEGER, text) else text
    if kind == "float":
        return float(text) if found(_FLOAT, text) else text
    if kind == "Bigint":
        return whole_number(text[:-1]) if found(_BIGINT, text) else text
    if kind == "array":
        return _array(text.strip(), nested)
    if kind == "dict":
        return _object(text.strip())
    raise Unscorable(f"values of the JavaScript type {kind!r} are not converted")


def _array(text: str, nested: str | None) -> Any:
    if (table := found(_TABLE, text)) is not None:
        rows = [match.group(1).strip() for match in all_found(r"\[(.*?)\]", table.group(0))]
        rows[0] = rows[0].removeprefix("[")
        return [[_guessed(item.strip()) for item in row.split(",")] for row in rows]
    match = found(_ARRAY, text)
    if match is None:
        return text
    inner = (match.group(1) if match.group(1) is not None else match.group(2)).strip()
    items = [item.strip() for item in inner.split(",")] if inner else []
    try:
        return [_item(item, nested) for item in items]
    except Unscorable:
        return text  # as BFCL has it: an array whose items are of no known type is text


def _item(text: str, nested: str | None) -> Any:
    if nested is None:
        return _guessed(text)
    return javascript_value(text, nested, "String" if text.startswith(("'", '"')) else None)


def _object(text: str) -> Any:
    if text == "{}":
        return {}
    match = found(r"\A\{(.*?)\}", text)
    if match is None:
        return text
    return {key.strip().strip("'\""): _member(value.strip()) for key, value in _pairs(match.group(1))}


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    return _guessed(text.strip("'\"").strip())


def _pairs(text: str) -> list[tuple[str, str]]:
    """The keys and values of ``text``, the inside of an object; a comma ends a value where a key follows it,
    that is, where a colon comes before the next comma."""
    pairs: list[tuple[str, str]] = []
    at = 0
    while True:
        while text[at : at + 1] == ":":
            at += 1
        colon = text.find(":", at)
        if colon < 0:
            return pairs
        key = text[at:colon]
        end, at = _value_end(text, colon + 1)
        pairs.append((key, text[colon + 1 : end].lstrip()))


def _value_end(text: str, start: int) -> tuple[int, int]:
    """Where the value that begins at ``start`` ends, and where the next key begins."""
    comma = text.find(",", start)
    while comma >= 0:
        following = text.find(",", comma + 1)
        rest = text[comma + 1 : following if following >= 0 else len(text)]
        if (colon := rest.rfind(":")) >= 1:
            return comma, comma + 1 + min(len(rest) - len(rest.lstrip()), colon - 1)
        comma = following
    return len(text), len(text)


def _guessed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else number_or_text(text)


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
