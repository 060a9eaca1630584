"""JSON Schemas made fit for a provider by small named steps, and arguments brought back.

A format's ``Plan`` names its steps. Every plan begins with the same ones: references made local, older
drafts' forms upgraded, a plain root, the wrapper around a root with combinators. ``strict_or_not`` chooses
between a provider's ``Strict`` mode and the plain plan.
"""

from __future__ import annotations

from ._anthropic_strict import ANTHROPIC_STRICT
from ._arrays import array_items, object_properties, tuples_as_lists
from ._booleans import object_schemas
from ._compile import Compiled, Plan, check_schema, compile_schema, modern, restore_arguments
from ._describe import keep_only
from ._enums import closed_bounds, const_to_enum, one_of_to_any_of, plain_enums, wide_integers
from ._inline import inline, inline_awkward, inline_siblings
from ._merge import merge_all_of
from ._openai_strict import OPENAI_STRICT
from ._strict import Budget, Chosen, Strict, not_strict, strict_or_not
from ._walk import Change, Schema, Step, Unrenderable

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
    "merge_all_of",
    "modern",
    "not_strict",
    "object_properties",
    "object_schemas",
    "one_of_to_any_of",
    "plain_enums",
    "restore_arguments",
    "strict_or_not",
    "tuples_as_lists",
    "wide_integers",
]
