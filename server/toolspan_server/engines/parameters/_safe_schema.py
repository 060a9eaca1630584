"""What a tool's ``parameters`` must be: a JSON Schema 2020-12 object schema that is safe to validate with.

Nothing is ever fetched: references stay inside the schema. What would make validation endless or
exponential is refused here; patterns are run in linear time, or in bounded steps, by the compiler.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from ...common.did_you_mean import nearest
from ...problems import Fault, Faulty
from ...schema.syntax_trees import DEPTH_LIMIT, TOO_DEEP, depth_of
from . import compile_parts, compile_schema, is_certain
from ._compile_cost import TooExpensive, check_pieces
from ._expansion import check_expansion
from ._schema_access import pointer
from ._subschemas import (
    REFERENCES,
    Parts,
    Schema,
    anchors_of,
    target_of,
    walk,
)

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator, ValidatorMap

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def object_schema(schema: dict[str, Any], subject: str = "parameters") -> dict[str, Any]:
    """``schema`` as it is. Raises ``Faulty`` when it is not a JSON Schema 2020-12 of an object.

    ``subject`` is what it is the schema of.
    """
    if is_certain(schema):
        return schema
    _check_plain(schema)
    parts = list(walk(schema))
    faults = [*_root_faults(schema, subject), *_reference_faults(schema, parts)]
    if not faults and any(keyword in part for _, part in parts for keyword in REFERENCES):
        try:
            check_expansion(schema)
            check_pieces(schema)
        except TooExpensive as error:
            faults.append(_too_expensive(error))
    faults += _form_faults(schema, compilable=not faults)
    if not faults:
        faults += _default_faults(schema, parts)
    if faults:
        raise Faulty(*faults)
    return schema


def _check_plain(schema: dict[str, Any]) -> None:
    if depth_of(schema) > DEPTH_LIMIT:
        raise Faulty(Fault((), TOO_DEEP, "make it flatter"))
    try:
        json.dumps(schema, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise Faulty(Fault((), f"not JSON: {error}", "use what JSON can carry")) from None


def _root_faults(schema: Schema, subject: str) -> Iterator[Fault]:
    kind = schema.get("type")
    if kind is None and "type" not in schema:
        yield Fault((), f"the schema of the {subject} has no type", "add type: object")
    elif kind != "object" and (kind in _TYPES or isinstance(kind, list)):
        message = f"the schema of the {subject} must have type 'object', not {json.dumps(kind)}"
        yield Fault(("type",), message, "write type: object")
    dialect = schema.get("$schema")
    if isinstance(dialect, str) and dialect.rstrip("#") != DIALECT:
        yield Fault(
            ("$schema",), f"{dialect!r} is not JSON Schema 2020-12", f"write {DIALECT}, or leave it out"
        )


def _reference_faults(schema: Schema, parts: Parts) -> Iterator[Fault]:
    anchors = anchors_of(parts)
    for path, part in parts:
        if path and "$id" in part:
            yield Fault((*path, "$id"), "an $id inside a schema changes what references mean", "remove it")
        for keyword in REFERENCES:
            reference = part.get(keyword)
            if not isinstance(reference, str):
                continue
            if not reference.startswith("#"):
                hint = "nothing is fetched: put the schema under $defs and refer to it as #/$defs/name"
                yield Fault((*path, keyword), f"{reference!r} is not in this schema", hint)
            elif target_of(schema, reference, anchors) is None:
                hint = "refer to a schema that is there, such as #/$defs/name"
                yield Fault((*path, keyword), f"{reference!r} leads nowhere", hint)


def _form_faults(schema: dict[str, Any], *, compilable: bool) -> list[Fault]:
    """What the meta-schema finds and, if the schema is ``compilable`` at all, the compiler."""
    from jsonschema_rs import ReferencingError, ValidationError

    refusal: Fault | None = None
    if compilable:
        try:
            compile_schema(schema)
        except ValidationError as error:
            refusal = _form_fault(error)
        except TooExpensive as error:
            return [_too_expensive(error)]
        except (ReferencingError, ValueError) as error:
            refusal = Fault((), f"not a JSON Schema 2020-12: {error}")
        if refusal is None:
            return []
    found = [_form_fault(error) for error in _meta_validator().iter_errors(schema)]
    unique = list({(fault.path, fault.message): fault for fault in found}.values())
    return unique or ([refusal] if refusal is not None else [])


def _too_expensive(error: TooExpensive) -> Fault:
    return Fault((), f"too expensive to validate with: {error}", "make it simpler")


@cache
def _meta_validator() -> Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"$ref": DIALECT}, validate_formats=True, offline=True)


def _form_fault(error: ValidationError) -> Fault:
    path = tuple(error.instance_path)
    value = error.instance
    if path[-1:] == ("type",) and isinstance(value, str):
        return Fault(path, f"{value!r} is not a JSON Schema type", nearest(value, _TYPES))
    if path[-1:] == ("pattern",) and isinstance(value, str):
        return Fault(path, f"{value!r} is not a regular expression", "correct the pattern")
    if path[-1:] == ("required",) and isinstance(value, bool):
        return Fault(
            path, "'required' is a list of property names", "move it to the object and list the name there"
        )
    return Fault(path, f"not JSON Schema 2020-12: {_short(error.message)}")


def _default_faults(schema: Schema, parts: Parts) -> Iterator[Fault]:
    compiled: ValidatorMap | None = None
    for path, part in parts:
        if "default" not in part:
            continue
        validator: Validator | None
        if any(keyword in inner for _, inner in walk(part) for keyword in REFERENCES):
            compiled = compile_parts(schema) if compiled is None else compiled
            validator = compiled.get("#" + pointer(*path))
        else:
            validator = compile_schema(part)
        if validator is None or not validator.is_valid(part["default"]):
            error = next(validator.iter_errors(part["default"]), None) if validator else None
            reason = _short(error.message) if error is not None else "its pattern takes too many steps"
            message = f"the default does not fit its own schema: {reason}"
            yield Fault((*path, "default"), message, "correct the default or the schema")


def _short(message: str) -> str:
    return message.splitlines()[0] if message else ""
