"""OpenAI's strict mode (Structured Outputs for functions), Chat Completions and Responses alike.

Source: OpenAI's Structured Outputs documentation as of 2026-08: every object closed and every property
required; no ``allOf``, ``oneOf``, ``not``, conditions or patterns of properties; at most 5,000 properties,
ten levels, 1,000 enum values, and 120,000 characters of names and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...json_values import as_list, as_object
from .._compile import Plan
from .._walk import (
    Change,
    Schema,
    subschemas,
    tokens,
)
from ..steps.arrays import array_items, tuples_as_lists
from ..steps.booleans import object_schemas
from ..steps.closed import (
    UNSAYABLE,
    closed_objects,
    optional_as_null,
    plain_unions,
    strict_faults,
)
from ..steps.describe import keep_only
from ..steps.enums import const_to_enum, one_of_to_any_of
from ..steps.inline import inline_siblings
from ..steps.merge import merge_all_of
from .mode import Strict

FORMATS = frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"})
KEPT = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "type",
    }
)
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
MAX_PROPERTIES, MAX_DEPTH, MAX_ENUM_VALUES, MAX_CHARACTERS = 5_000, 10, 1_000, 120_000


class _Patterns:
    """The patterns that strict mode takes: those that do not look ahead or back."""

    def __contains__(self, pattern: object) -> bool:
        return isinstance(pattern, str) and _LOOKAROUND.search(pattern) is None


def _faults(schema: Schema) -> Iterator[Change]:
    yield from strict_faults(schema)
    for pointer, node in subschemas(schema):
        if "$ref" in node and len(node) > 1:
            yield Change(pointer, "", "a recursive reference has constraints beside it")
    yield from _too_large(schema)


def _too_large(schema: Schema) -> Iterator[Change]:
    named = [name for _, node in subschemas(schema) for name in as_object(node.get("properties")) or {}]
    values = [value for _, node in subschemas(schema) for value in as_list(node.get("enum")) or []]
    texts = [*named, *(as_object(schema.get("$defs")) or {}), *map(str, values)]
    for size, most, what in (
        (len(named), MAX_PROPERTIES, "properties"),
        (max(_depth(pointer) for pointer, _ in subschemas(schema)), MAX_DEPTH, "levels"),
        (len(values), MAX_ENUM_VALUES, "enum values"),
        (sum(map(len, texts)), MAX_CHARACTERS, "characters of names and values"),
    ):
        if size > most:
            yield Change("", "", f"it has {size:,} {what}, and at most {most:,} are taken")


def _depth(pointer: str) -> int:
    """Levels of properties and items above a place; names that look like keywords only add to it."""
    return sum(token in ("properties", "items") for token in tokens(pointer))


OPENAI_STRICT = Strict(
    Plan(
        steps=(
            object_schemas,
            inline_siblings,
            const_to_enum,
            one_of_to_any_of,
            merge_all_of,
            tuples_as_lists,
            array_items,
            plain_unions,
            closed_objects,
            keep_only(KEPT | UNSAYABLE, values={"format": FORMATS, "pattern": _Patterns()}),
            optional_as_null,
        ),
        faults=_faults,
        null_for_missing=True,
    )
)
"""Lengths, defaults, other formats and patterns that look around are expressed in descriptions."""
