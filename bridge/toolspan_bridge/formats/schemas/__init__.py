"""JSON Schemas made fit for a provider by small named steps, and arguments brought back.

A format's ``Plan`` names its steps. Every plan begins with the same ones: references made local, older
drafts' forms upgraded, a plain root, the wrapper around a root with combinators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .._json import MAX_NESTING, as_object, clean, nesting, snippet
from ._arrays import array_items, object_properties, tuples_as_lists
from ._booleans import object_schemas
from ._describe import keep_only
from ._enums import closed_bounds, const_to_enum, one_of_to_any_of, plain_enums
from ._inline import inline, inline_awkward
from ._keys import key_table, legal_keys
from ._merge import merge_all_of
from ._refs import find, found, localise
from ._restore import restore_values, unwrap
from ._root import WRAPPER, is_wrapped, plain_root, wrap
from ._upgrade import strip, upgrade
from ._walk import Change, Schema, Step, Unrenderable, escape, tokens

__all__ = [
    "Change",
    "Compiled",
    "Plan",
    "Schema",
    "Step",
    "Unrenderable",
    "array_items",
    "closed_bounds",
    "compile_schema",
    "const_to_enum",
    "inline",
    "inline_awkward",
    "keep_only",
    "merge_all_of",
    "object_properties",
    "object_schemas",
    "one_of_to_any_of",
    "plain_enums",
    "restore_arguments",
    "tuples_as_lists",
]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a format changes schemas. ``keys`` matches the property keys that it may send as they are."""

    steps: tuple[Step, ...] = ()
    keys: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A schema as it is sent, and what it could not keep; pointers are into the original."""

    schema: Schema
    changes: tuple[Change, ...]


def compile_schema(schema: Mapping[str, Any] | bool, plan: Plan) -> Compiled:
    """``schema`` by ``plan``. Raises ``Unrenderable`` for one that no provider can be given."""
    _check_depth(schema)
    original = clean(schema)
    try:
        sent, changes = _canonical(original)
    except Unrenderable as problem:
        raise problem.at(_original(original, problem.change.pointer, wrapped=False)) from None
    wrapped = is_wrapped(plain_root(sent)[0])
    renamed = (legal_keys(plan.keys),) if plan.keys else ()
    for step in (plain_root, wrap, *renamed, *plan.steps):
        sent, more = step(sent)
        changes.extend(more)
    located = (Change(_original(original, c.pointer, wrapped), c.rule, c.repair) for c in changes)
    return Compiled(sent, tuple(dict.fromkeys(located)))


def restore_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """``arguments`` for a schema that was sent by ``plan``, in the words of the original.

    Unwrapped, keys renamed back, whole floats as integers where the schema says so. Arguments of a tool
    that could not be sent come back as they are.
    """
    given = dict(arguments)
    try:
        _check_depth(schema)
        original = plain_root(_canonical(schema)[0])[0]
    except Unrenderable:
        return given
    if is_wrapped(original):
        given = unwrap(original, given)
    keys = key_table(original, plan.keys) if plan.keys else {}
    return cast("dict[str, Any]", restore_values(original, given, keys))


def _canonical(schema: Mapping[str, Any] | bool) -> tuple[Schema, list[Change]]:
    sent, _ = upgrade(localise(as_object(clean(schema)) or {})[0])
    sent, changes = strip(sent)
    _check(sent)
    return sent, changes


def _check_depth(schema: Any) -> None:
    if nesting(schema) > MAX_NESTING:
        raise Unrenderable("", "too-deep", f"its schema is nested deeper than {MAX_NESTING} levels")


def _check(schema: Schema) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        where = "".join(f"/{escape(str(token))}" for token in error.instance_path)
        raise Unrenderable(where, "invalid-schema", snippet(error.message)) from None
    except ValueError as error:
        raise Unrenderable("", "invalid-schema", snippet(str(error))) from None


def _original(schema: Any, pointer: str, wrapped: bool) -> str:
    """The nearest place in the original: through the wrapper, the old names and followed references."""
    prefix = f"/properties/{WRAPPER}"
    if wrapped and (pointer == prefix or pointer.startswith(f"{prefix}/")):
        pointer = pointer[len(prefix) :]
    path: list[str] = []
    for token in tokens(pointer):
        step = next((tail for tail in _spellings(token) if found(find(schema, [*path, *tail]))), None)
        if step is None:
            path = _followed(schema, path)
            step = next((tail for tail in _spellings(token) if found(find(schema, [*path, *tail]))), None)
        if step is None:
            break
        path += step
    return "".join(f"/{escape(token)}" for token in path)


def _spellings(token: str) -> list[list[str]]:
    old = {"$defs": "definitions", "prefixItems": "items", "items": "additionalItems", "anyOf": "oneOf"}
    return [[token], [old[token]]] if token in old else [[token]]


def _followed(schema: Any, path: list[str]) -> list[str]:
    for _ in range(10):
        ref = (as_object(find(schema, path)) or {}).get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#"):
            return path
        path = tokens(ref[1:])
    return path
