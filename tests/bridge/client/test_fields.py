"""Fields of the forms that servers ask by: every sort of the restricted schema, and what does not fit it."""

from __future__ import annotations

from typing import Any

import pytest

from toolspan_bridge import FormField
from toolspan_bridge.client.fields import form_faults, read_fields

pytestmark = pytest.mark.requirement("I12.2.10")

TITLED = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]


def field(**schema: Any) -> FormField:
    """The one field of that schema."""
    (found,) = read_fields({"type": "object", "properties": {"x": schema}})
    return found


READ: list[tuple[dict[str, Any], str, Any]] = [
    ({"type": "string"}, "any thing ", "any thing "),
    ({"type": "string", "format": "email"}, "a@example.com", "a@example.com"),
    ({"type": "string", "format": "date"}, "2026-07-28", "2026-07-28"),
    ({"type": "integer", "minimum": 1}, " 7 ", 7),
    ({"type": "integer"}, "12345678901234567890123", 12345678901234567890123),
    ({"type": "integer"}, "2.0", 2),
    ({"type": "number", "maximum": 3}, "2.5", 2.5),
    ({"type": "boolean"}, "Yes", True),
    ({"type": "boolean"}, "n", False),
    ({"type": "string", "enum": ["red", "green"]}, "2", "green"),
    ({"type": "string", "enum": ["red", "green"]}, "red", "red"),
    ({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}, "Green", "g"),
    ({"type": "string", "oneOf": TITLED}, "1", "r"),
    ({"type": "string", "oneOf": TITLED}, "Green", "g"),
    ({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}, "1, c", ["a", "c"]),
    ({"type": "array", "items": {"anyOf": TITLED}, "minItems": 1}, "Red", ["r"]),
    ({"type": "array", "items": {"anyOf": TITLED}}, "", []),
]


@pytest.mark.parametrize(("schema", "text", "value"), READ)
def test_what_a_person_writes_is_read_by_the_kind_of_the_field(
    schema: dict[str, Any], text: str, value: Any
) -> None:
    found = field(**schema)
    assert found.read(text) == value
    assert type(found.read(text)) is type(value)
    assert found.read(found.written(value)) == value


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "string", "minLength": 3}, "ab", "3"),
    ({"type": "string", "maxLength": 3}, "abcd", "3"),
    ({"type": "string", "format": "email"}, "nobody", "email"),
    ({"type": "string", "format": "uri"}, "nowhere", "uri"),
    ({"type": "integer"}, "2.5", "a whole number"),
    ({"type": "integer"}, "many", "a whole number"),
    ({"type": "integer", "minimum": 1}, "0", "1"),
    ({"type": "number"}, "nan", "a number"),
    ({"type": "number", "maximum": 3}, "4", "3"),
    ({"type": "boolean"}, "maybe", "yes or no"),
    ({"type": "string", "enum": ["red"]}, "2", "a number from 1 to 1"),
    ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, "", "1"),
    ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, "a, b", "1"),
]


@pytest.mark.parametrize(("schema", "text", "wanted"), WRONG)
def test_what_does_not_fit_is_told_with_what_is_wanted(
    schema: dict[str, Any], text: str, wanted: str
) -> None:
    with pytest.raises(ValueError, match=wanted):
        field(**schema).read(text)


def test_titles_descriptions_defaults_and_what_is_needed_are_kept() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "title": "Name", "description": "Yours.", "default": "Ada"},
            "b": {"type": "boolean", "default": False},
        },
        "required": ["b"],
    }
    name, agreed = read_fields(schema)
    assert (name.title, name.description, name.default, name.required) == ("Name", "Yours.", "Ada", False)
    assert (agreed.kind, agreed.default, agreed.required) == ("boolean", False, True)
    assert agreed.written(False) == "no"
    assert form_faults(schema, {"a": "Ada"}) == ["missing 'b'"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": {"x": {"type": "object"}}},
        {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"x": "text"}},
        {"type": "object", "properties": {str(number): {"type": "string"} for number in range(51)}},
        {"type": "object", "properties": {"x": {"type": "string", "enum": [str(n) for n in range(201)]}}},
    ],
)
def test_what_is_no_form_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_fields(schema)


def test_references_and_costly_patterns_of_a_form_are_not_followed() -> None:
    hostile = {
        "type": "object",
        "properties": {"x": {"type": "string", "$ref": "http://169.254.169.254/", "pattern": "(a+)+$"}},
    }
    (found,) = read_fields(hostile)
    assert found.faults("a" * 40) == []
    assert found.faults("a" * 40 + "!") != []
