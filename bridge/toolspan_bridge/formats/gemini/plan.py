"""How schemas are changed for Gemini: only documented keywords are sent, and keys that are plain names."""

from __future__ import annotations

import re

from ..shared.schemas import (
    Plan,
    array_items,
    closed_bounds,
    const_to_enum,
    inline_awkward,
    keep_only,
    known_required,
    merge_all_of,
    object_schemas,
    plain_enums,
    spelled_enums,
    wide_integers,
)

__all__ = ["KEPT", "PLAN"]

KEPT = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
PLAN = Plan(
    keys=re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    steps=(
        object_schemas,
        inline_awkward,
        const_to_enum,
        merge_all_of,
        plain_enums,
        spelled_enums,
        closed_bounds,
        wide_integers,
        keep_only(KEPT),
        known_required,
        array_items,
    ),
)
