"""Derives the core schemas of ``pydantic_core`` from a record's annotations."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from types import EllipsisType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from .constraints import Constraint, ReadAs, Shape
from .interpolation import from_variable


def shape_as_written(annotation: Any, module: str) -> Shape:
    """The core schema of values of the type ``annotation``, usually a string from the source of ``module``.

    Raises ``TypeError`` as ``shape_of`` does, and for unknown names.
    """
    if not isinstance(annotation, str):
        return shape_of(annotation)
    # three of four annotations are a name, or a name or null: compiling those would take most of the time
    if annotation.endswith(_OR_NULL):
        return {"type": "nullable", "schema": shape_as_written(annotation.removesuffix(_OR_NULL), module)}
    known = vars(sys.modules[module])
    for names in (known, vars(builtins)):
        if annotation in names:
            return shape_of(names[annotation])
    try:
        return shape_of(eval(annotation, known))
    except NameError as error:
        raise TypeError(f"{error}: import it for more than type checkers") from None


def shape_of(annotation: Any) -> Shape:
    """The core schema of values of the type ``annotation``. Raises ``TypeError`` for unsupported types.

    Supported are ``str``, ``int``, ``float``, ``bool``, ``Any``, ``Literal``, ``X | None``, ``tuple[X,
    ...]``, ``dict[str, X]``, records, pydantic's models, and ``Annotated`` of any with what ``constraints``
    has.
    """
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is None and hasattr(annotation, "__pydantic_core_schema__"):
        return cast("Shape", annotation.__pydantic_core_schema__)
    if origin is Literal:
        return {"type": "literal", "expected": list(parts)}
    if origin is Annotated:
        return _constrained(*parts)
    if origin in (Union, UnionType) and len(parts) == 2 and NoneType in parts:
        return {"type": "nullable", "schema": shape_of(parts[parts[0] is NoneType])}
    if origin is tuple and len(parts) == 2 and isinstance(parts[1], EllipsisType):
        return {"type": "tuple", "items_schema": [shape_of(parts[0])], "variadic_item_index": 0}
    if origin is dict:
        return {"type": "dict", "keys_schema": shape_of(parts[0]), "values_schema": shape_of(parts[1])}
    raise TypeError(f"no data is read as {annotation!r}: write {_FORMS}")


def _constrained(base: Any, *constraints: Any) -> Shape:
    shape = shape_of(base)
    for constraint in constraints:
        if isinstance(constraint, ReadAs):
            shape = shape_of(constraint.annotation)
        elif isinstance(constraint, Constraint):
            shape = constraint.apply(shape)
        else:
            raise TypeError(f"{constraint!r} is no constraint")
    return shape


def _or_variable(shape: Shape) -> Shape:
    """A number or boolean of exactly this type, or one that ``${VAR}`` spells."""
    function = {"type": "with-info", "function": from_variable}
    return {
        "type": "function-before",
        "schema": {**shape, "strict": True},
        "function": function,
        "metadata": {"reference": True},
    }


_OR_NULL = " | None"
_FORMS = "str, int, float, bool, Any, Literal, X | None, tuple[X, ...], dict[str, X], a record, or Annotated"
_SIMPLE: Mapping[Any, Shape] = {
    str: {"type": "str"},
    Any: {"type": "any"},
    **{each: _or_variable({"type": each.__name__}) for each in (bool, float, int)},
}
