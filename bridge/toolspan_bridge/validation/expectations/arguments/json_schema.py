"""``{schema: {…}}``: a value that fits the JSON Schema (2020-12, if it names no other)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from toolspan_server.engines.parameters import Check as SchemaCheck

from ....providers.wire.json_types import is_object
from .form import Check, Fits, shown


def check(operand: Any, check: Check) -> None:
    del check
    if not is_object(operand):
        raise ValueError(f"schema needs a JSON Schema, which is an object, not {operand!r}")
    _compiled(json.dumps(operand))


def fits(operand: Any, actual: Any, fits: Fits) -> bool:
    del fits
    return not _compiled(json.dumps(operand)).faults(actual)


def told(operand: Any) -> str:
    return f"expected a value that fits {shown(operand)}"


@lru_cache(maxsize=64)
def _compiled(schema: str) -> SchemaCheck:
    import jsonschema_rs

    check = SchemaCheck(json.loads(schema))
    try:
        check.compile()
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise ValueError(f"schema is no JSON Schema: {str(error).splitlines()[0]}") from None
    return check
