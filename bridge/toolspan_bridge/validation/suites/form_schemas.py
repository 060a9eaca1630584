"""The JSON Schemas of forms: of what is expected of an argument, and of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ANSWER_SCHEMA", "ARGUMENTS_SCHEMA", "ARGUMENT_FORMS"]

_NUMBER = {"type": "number"}
_NEAR = {
    "type": "object",
    "properties": {"value": _NUMBER, "within": {"type": "number", "minimum": 0}},
    "required": ["value", "within"],
    "additionalProperties": False,
}
_RANGE = {
    "type": "object",
    "properties": {"min": _NUMBER, "max": _NUMBER},
    "minProperties": 1,
    "additionalProperties": False,
}
_CHECK_PATH = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "is": {}},
    "required": ["path"],
    "additionalProperties": False,
}


def _described(description: str, schema: Mapping[str, Any], *examples: Any) -> dict[str, Any]:
    return {"description": description, **schema, **({"examples": list(examples)} if examples else {})}


ARGUMENT_FORMS: Mapping[str, Mapping[str, Any]] = {
    "contains": _described(
        "A text that holds this, in any case; or a list with such a value.", {}, "printer"
    ),
    "matches": _described("A text in which the RE2 pattern is found.", {"type": "string"}, "^[A-Z]{3}$"),
    "text": _described("This text, in any case and with any spaces.", {"type": "string"}, "New York"),
    "one_of": _described(
        "One of these values or forms.", {"type": "array", "minItems": 1}, ["high", "urgent"]
    ),
    "range": _described("A number from min to max.", _RANGE, {"min": 1, "max": 5}),
    "approximate": _described("A number at most so far away.", _NEAR, {"value": 6.75, "within": 0.01}),
    "subset": _described("A list that holds all of these, or an object with these members.", {}, ["a", "b"]),
    "schema": _described("A value that fits the JSON Schema.", {"type": "object"}, {"type": "integer"}),
    "equals": _described("This value, even where it looks like a form.", {}),
    "absent": _described("The argument is not given.", {"const": True}),
}
"""What stands under each form of an argument."""


def _forms(forms: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """An object with one of ``forms`` as its only key."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in forms.items()},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


ARGUMENTS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "description": "The value, or a form: an object whose only key says how the argument is compared.",
        "anyOf": [_forms(ARGUMENT_FORMS), {}],
    },
}
_ANSWER: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        _forms(
            {
                "contains": _described("The answer contains the text, in any case.", {"type": "string"}),
                "matches": _described("The RE2 pattern is found in the answer.", {"type": "string"}),
                "number": _described("The answer names such a number.", _NEAR),
                "json": _described("The answer is JSON, with such a value at the JSONPath.", _CHECK_PATH),
            }
        ),
    ]
}
ANSWER_SCHEMA: dict[str, Any] = {
    "anyOf": [*_ANSWER["anyOf"], {"type": "array", "items": _ANSWER, "minItems": 1}]
}
