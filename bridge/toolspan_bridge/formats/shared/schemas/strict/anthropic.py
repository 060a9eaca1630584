"""Anthropic's strict tools, on its own API and for Claude on Bedrock.

Source: Anthropic's structured outputs documentation of 2026-09-20: every object closed; no recursion, bounds
of numbers, lengths or ``minItems`` beyond 1; in one request at most 20 strict tools, 24 optional properties
and 16 unions among them. Where support is not documented (``pattern``, ``default``), it is described.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._compile import Plan
from .._refs import recursive
from .._walk import (
    Change,
    Schema,
    subschemas,
    types,
)
from ..steps.arrays import array_items, tuples_as_lists
from ..steps.booleans import object_schemas
from ..steps.closed import (
    UNSAYABLE,
    closed_objects,
    plain_unions,
    split_types,
    strict_faults,
)
from ..steps.describe import keep_only
from ..steps.enums import one_of_to_any_of, primitive_enums
from ..steps.inline import inline_siblings
from ..steps.merge import merge_all_of
from .mode import Budget, Strict

FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
)
KEPT = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    }
)


def _faults(schema: Schema) -> Iterator[Change]:
    yield from strict_faults(schema)
    loops = recursive(schema)
    for pointer, node in subschemas(schema):
        if node.get("$ref") in loops:
            yield Change(f"{pointer}/$ref", "", "the schema holds itself")
        if len(types(node)) > 1:
            yield Change(f"{pointer}/type", "", "several types stand beside an anyOf")


ANTHROPIC_STRICT = Strict(
    Plan(
        keys=re.compile(r"[A-Za-z0-9_.-]{1,64}"),
        steps=(
            object_schemas,
            inline_siblings,
            one_of_to_any_of,
            merge_all_of,
            tuples_as_lists,
            array_items,
            primitive_enums,
            plain_unions,
            closed_objects,
            keep_only(KEPT | UNSAYABLE, values={"format": FORMATS, "minItems": frozenset({0, 1})}),
            split_types,
        ),
        faults=_faults,
    ),
    Budget(tools=20, optional=24, unions=16),
)
