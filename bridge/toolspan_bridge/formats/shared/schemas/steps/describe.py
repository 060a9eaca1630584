"""Keywords that a provider would refuse or silently lose, described in the description instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ...json_values import compact
from .._walk import (
    LISTS,
    MAPS,
    SINGLES,
    Conditional,
    Note,
    Schema,
    Step,
    escape,
    everywhere,
    tokens,
)

_SENTENCES: dict[str, Callable[[Any], str]] = {
    "const": lambda value: f"Always {_shown(value)}.",
    "contains": lambda value: f"Contains an item like {_shown(value)}.",
    "default": lambda value: f"Default: {_shown(value)}.",
    "dependentRequired": lambda value: "".join(
        f"With {name}, {', '.join(map(str, needs))} must be given." for name, needs in value.items()
    ),
    "enum": lambda value: f"One of: {_shown(value)}.",
    "examples": lambda value: f"Examples: {', '.join(map(_shown, value))}.",
    "exclusiveMaximum": lambda value: f"Less than {_shown(value)}.",
    "exclusiveMinimum": lambda value: f"Greater than {_shown(value)}.",
    "format": lambda value: f"Format: {value}.",
    "maximum": lambda value: f"At most {_shown(value)}.",
    "maxItems": lambda value: f"At most {_amount(value, 'items')}.",
    "maxLength": lambda value: f"At most {_amount(value, 'characters')}.",
    "maxProperties": lambda value: f"At most {_amount(value, 'properties')}.",
    "minimum": lambda value: f"At least {_shown(value)}.",
    "minItems": lambda value: f"At least {_amount(value, 'items')}.",
    "minLength": lambda value: f"At least {_amount(value, 'characters')}.",
    "minProperties": lambda value: f"At least {_amount(value, 'properties')}.",
    "multipleOf": lambda value: f"A multiple of {_shown(value)}.",
    "not": lambda value: f"Must not match {_shown(value)}.",
    "pattern": lambda value: f"Matches the pattern {value}",
    "patternProperties": lambda value: f"Properties by pattern: {_shown(value)}.",
    "propertyNames": lambda value: f"Property names match {_shown(value)}.",
    "additionalProperties": lambda value: f"Any other property: {_shown(value)}.",
    "title": lambda value: f"Title: {value}.",
    "uniqueItems": lambda value: "All items differ.",
    "if": lambda value: f"If it matches {_shown(value)}:",
    "then": lambda value: f"then it matches {_shown(value)}.",
    "else": lambda value: f"otherwise it matches {_shown(value)}.",
}
_MEANS_NOTHING: dict[str, Any] = {
    "additionalProperties": True,
    "deprecated": False,
    "minItems": 0,
    "minLength": 0,
    "minProperties": 0,
    "readOnly": False,
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
    "uniqueItems": False,
    "writeOnly": False,
}
_HOLDS_SCHEMAS = LISTS | MAPS | SINGLES
_SINGULAR = {"characters": "character", "items": "item", "properties": "property"}
_NOT_WORTH_WORDS = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})


def keep_only(
    keywords: Set[str],
    *,
    root: Set[str] | None = None,
    skip: frozenset[str] = frozenset(),
    values: Mapping[str, Container[Any]] | None = None,
) -> Step:
    """The step that describes every keyword not in ``keywords`` (at the root: ``root``) and leaves it out.

    A keyword in ``values`` is kept with one of those values only. That nothing further is allowed
    (``additionalProperties: false``) is reported, but not worth a sentence.
    """
    kept = _Kept(keywords, keywords if root is None else root, values or {})
    return Conditional(
        everywhere(kept.describe_others, skip=skip | (_HOLDS_SCHEMAS - keywords)), kept.lacks_any
    )


@dataclass(frozen=True, slots=True)
class _Kept:
    """The ``keywords`` that stay, those at the ``root``, and the only ``values`` that some stay with."""

    keywords: Set[str]
    root: Set[str]
    values: Mapping[str, Container[Any]]

    def describe_others(self, node: Schema, pointer: str, note: Note) -> Schema:
        sentences: list[str] = []
        for keyword in sorted(node.keys() - self._of(node, pointer), key=_order):
            value = node.pop(keyword)
            if _says_nothing(keyword, value, pointer):
                continue
            sentence = "" if keyword in _NOT_WORTH_WORDS and value is False else _sentence(keyword, value)
            sentences.append(sentence)
            note(
                f"{pointer}/{escape(keyword)}",
                "keyword" if sentence else "keyword-dropped",
                f"described: {sentence}" if sentence else "left out",
            )
        description = " ".join(filter(None, (node.get("description"), *sentences)))
        return {**node, "description": description} if description else node

    def _of(self, node: Schema, pointer: str) -> Set[str]:
        kept = self.keywords if pointer else self.root
        return (kept | {"description"}) - {
            keyword for keyword, few in self.values.items() if keyword in node and node[keyword] not in few
        }

    def lacks_any(self, inside: Sequence[Schema]) -> bool:
        """Whether a schema of ``inside``, the root first, may hold anything else."""
        return not (
            inside[0].keys() <= self.root | {"description"}
            and all(node.keys() <= self.keywords | {"description"} for node in inside[1:])
            and all(self.values.keys().isdisjoint(node) for node in inside)
        )


def _order(keyword: str) -> tuple[int, str]:
    branches = ("if", "then", "else")
    return (branches.index(keyword) + 1, keyword) if keyword in branches else (0, keyword)


def _says_nothing(keyword: str, value: Any, pointer: str) -> bool:
    if keyword == "title":
        return _letters(str(value)) == _letters((tokens(pointer) or [""])[-1])
    return keyword == "$defs" or (keyword in _MEANS_NOTHING and value == _MEANS_NOTHING[keyword])


def _letters(words: str) -> str:
    return re.sub(r"[\W_]", "", words).casefold()


def _sentence(keyword: str, value: Any) -> str:
    write = _SENTENCES.get(keyword)
    try:
        sentence = write(value) if write is not None else f"{keyword}: {_shown(value)}."
    except (AttributeError, TypeError):
        sentence = f"{keyword}: {_shown(value)}."
    return sentence if len(sentence) <= 400 else f"{sentence[:399]}…"


def _amount(value: Any, unit: str) -> str:
    return f"1 {_SINGULAR[unit]}" if value == 1 else f"{value} {unit}"


def _shown(value: Any) -> str:
    return compact(value)
