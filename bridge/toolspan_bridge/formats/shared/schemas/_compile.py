"""Compiles schemas by a plan of steps, and converts arguments back to the original schema."""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from ..json_values import (
    MAX_NESTING,
    as_object,
    clean,
    nesting,
    snippet,
)
from ._keys import key_table, legal_keys
from ._modern import is_modern
from ._places import Places
from ._refs import localise
from ._restore import restore_values, unwrap
from ._root import is_wrapped, plain_root, wrap
from ._upgrade import strip, upgrade
from ._walk import (
    Change,
    Schema,
    Step,
    Unrenderable,
    applied,
    escape,
)

_SAME_FOR_EQUALS = 2
"""The last of marshal's formats in which equal values are equal bytes."""
_MOST_SHARED_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Plan:
    """How a format changes schemas. ``keys`` matches the property keys that it may send unchanged.

    ``faults`` finds what a strict mode would refuse in a schema after all steps. ``null_for_missing``: the
    steps made optional properties required and nullable, so that a null may stand for a missing value.
    """

    steps: tuple[Step, ...] = ()
    keys: re.Pattern[str] | None = None
    faults: Callable[[Schema], Iterable[Change]] | None = None
    null_for_missing: bool = False


@dataclass(frozen=True, slots=True)
class Compiled:
    """A schema as it is sent, its losses, and what is still refused in it (``Plan.faults``).

    Pointers are into the original.
    """

    schema: Schema
    changes: tuple[Change, ...]
    faults: tuple[Change, ...] = ()


def compile_schema(schema: Mapping[str, Any] | bool, plan: Plan) -> Compiled:
    """Compile ``schema`` by ``plan``. Raises ``Unrenderable`` for one that no provider accepts.

    Equal schemas share one result, which must not be changed.
    """
    try:
        written = marshal.dumps(cast("Any", schema), _SAME_FOR_EQUALS)
    except ValueError:  # nested too deeply, or of other types than those of plain JSON
        return _compiled(schema, plan)
    return _shared(written, plan) if len(written) <= _MOST_SHARED_BYTES else _compiled(schema, plan)


def check_schema(schema: Mapping[str, Any] | bool) -> None:
    """Raise ``Unrenderable`` where ``compile_schema`` would, by any plan."""
    _check_depth(schema)
    _original(schema)


@lru_cache(maxsize=1024)
def _shared(written: bytes, plan: Plan) -> Compiled:
    return _compiled(marshal.loads(written), plan)


def _compiled(schema: Mapping[str, Any] | bool, plan: Plan) -> Compiled:
    _check_depth(schema)
    original, sent, changes = _original(schema)
    plain = plain_root(sent)[0]
    places = Places(original, is_wrapped(plain), key_table(plain, plan.keys) if plan.keys else {})
    renamed = (legal_keys(plan.keys),) if plan.keys else ()
    sent, more = applied((plain_root, wrap, *renamed, *plan.steps), sent)
    changes.extend(more)
    return Compiled(sent, places.locate(changes), places.locate(plan.faults(sent)) if plan.faults else ())


def _original(schema: Mapping[str, Any] | bool) -> tuple[Any, Schema, list[Change]]:
    """``schema`` cleaned, its canonical form, and the losses of that; problems have their place in it."""
    original = clean(schema)
    try:
        return original, *_canonical(original)
    except Unrenderable as problem:
        raise problem.at(Places(original).of(problem.change.pointer)) from None


def restore_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """``arguments`` for a schema that was sent by ``plan``, in terms of the original.

    Unwrapped, keys renamed back, whole floats as integers where the schema says so, objects and arrays that
    came as strings read, nulls for missing values removed. Arguments of a tool that could not be sent are
    returned unchanged.
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
    return cast("dict[str, Any]", restore_values(original, given, keys, without_nulls=plan.null_for_missing))


def modern(schema: Mapping[str, Any]) -> Schema:
    """``schema`` as JSON Schema 2020-12, with local references."""
    return upgrade(localise(as_object(clean(schema)) or {})[0])[0]


def _canonical(schema: Mapping[str, Any] | bool) -> tuple[Schema, list[Change]]:
    sent = as_object(clean(schema)) or {}
    changes: list[Change] = []
    if not is_modern(sent):
        sent, _ = upgrade(localise(sent)[0])
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
