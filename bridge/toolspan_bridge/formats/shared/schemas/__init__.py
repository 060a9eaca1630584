"""Adapts JSON Schemas to a provider by small named steps, and converts arguments back.

A format's ``Plan`` names its steps. Every plan begins with the same ones: references made local, older
drafts upgraded, a plain root, the wrapper around a root with combinators. ``strict_or_not`` chooses
between a provider's ``Strict`` mode and the plain plan.
"""

from __future__ import annotations

from ._compile import (
    Compiled,
    Plan,
    check_schema,
    compile_schema,
    modern,
    restore_arguments,
)
from ._walk import (
    Change,
    Schema,
    Step,
    Unrenderable,
)
from .steps.arrays import array_items, object_properties, tuples_as_lists
from .steps.booleans import object_schemas
from .steps.describe import keep_only
from .steps.enums import (
    closed_bounds,
    const_to_enum,
    known_required,
    one_of_to_any_of,
    plain_enums,
    spelled_enums,
    wide_integers,
)
from .steps.inline import inline, inline_awkward, inline_siblings
from .steps.merge import merge_all_of
from .strict.anthropic import ANTHROPIC_STRICT
from .strict.mode import (
    Budget,
    Chosen,
    Strict,
    not_strict,
    strict_or_not,
)
from .strict.openai import OPENAI_STRICT

__all__ = [
    "ANTHROPIC_STRICT",
    "OPENAI_STRICT",
    "Budget",
    "Change",
    "Chosen",
    "Compiled",
    "Plan",
    "Schema",
    "Step",
    "Strict",
    "Unrenderable",
    "array_items",
    "check_schema",
    "closed_bounds",
    "compile_schema",
    "const_to_enum",
    "inline",
    "inline_awkward",
    "inline_siblings",
    "keep_only",
    "known_required",
    "merge_all_of",
    "modern",
    "not_strict",
    "object_properties",
    "object_schemas",
    "one_of_to_any_of",
    "plain_enums",
    "restore_arguments",
    "spelled_enums",
    "strict_or_not",
    "tuples_as_lists",
    "wide_integers",
]
