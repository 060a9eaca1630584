"""``{schema: {…}}``: a value that fits the JSON Schema (2020-12, if it names no other)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ....providers.wire.json_types import is_object
from .form import Check, Fits, shown

if TYPE_CHECKING:
    from jsonschema_rs import Validator


def check(operand: Any, check: Check) -> None:
    del check
    if not is_object(operand):
        raise ValueError(f"schema needs a JSON Schema, which is an object, not {operand!r}")
    _compiled(json.dumps(operand))


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return _compiled(json.dumps(operand)).is_valid(actual)


def told(operand: Any) -> str:
    return f"expected a value that fits {shown(operand)}"


@lru_cache(maxsize=64)
def _compiled(schema: str) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(json.loads(schema), validate_formats=True, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise ValueError(f"schema is no JSON Schema: {str(error).splitlines()[0]}") from None
