"""Arguments on the way back: unwrapped, renamed, integers again, and nothing else touched."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.compiled import tool
from toolspan_bridge.formats import format_names, get_format

pytestmark = pytest.mark.requirement("I2.6.2")

EVERY = pytest.mark.parametrize("name", format_names())
EITHER = {
    "type": "object",
    "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    "properties": {"a": {}, "b": {}},
}
ODD = {
    "type": "object",
    "properties": {
        "a b": {"type": "integer"},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Odd"}},
        "free": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Odd"}},
        "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Odd"}]},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Odd"}]},
    },
    "$defs": {"Odd": {"type": "object", "properties": {"x y": {"type": "integer"}}}},
}


def back(name: str, schema: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return get_format(name).restore(tool(schema), arguments)


@EVERY
@pytest.mark.parametrize("sent", [{"input": {"a": 1}}, {"input": '{"a": 1}'}, {"a": 1}])
def test_a_wrapper_is_taken_off_and_may_be_missing(name: str, sent: dict[str, Any]) -> None:
    assert back(name, EITHER, sent) == {"a": 1}


@EVERY
@pytest.mark.parametrize("sent", [{"input": [1]}, {"input": "no JSON"}, {"input": {}, "a": 1}, {}])
def test_what_is_no_wrapper_stays(name: str, sent: dict[str, Any]) -> None:
    assert back(name, EITHER, sent) == sent


@EVERY
def test_a_property_named_like_the_wrapper_is_told_apart_by_what_fits(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        },
        "anyOf": [{"required": ["input"]}],
    }
    assert back(name, schema, {"input": {"n": 1}}) == {"input": {"n": 1}}
    assert back(name, schema, {"input": {"input": {"n": 1}}}) == {"input": {"n": 1}}


@EVERY
def test_an_unwrapped_schema_may_have_a_property_named_input(name: str) -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}}}
    assert back(name, schema, {"input": {"a": 1}}) == {"input": {"a": 1}}


@pytest.mark.parametrize("name", ["bedrock", "gemini"])
@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"a_b": 1}, {"a b": 1}),
        ({"a b": 1}, {"a b": 1}),
        ({"list": [{"x_y": 1}]}, {"list": [{"x y": 1}]}),
        ({"free": {"k": {"x_y": 1}}}, {"free": {"k": {"x y": 1}}}),
        ({"either": {"x_y": 1}}, {"either": {"x y": 1}}),
        ({"pair": ["s", {"x_y": 1}]}, {"pair": ["s", {"x y": 1}]}),
        ({"x_y": 1}, {"x_y": 1}),
        ({"free": {"a_b": 1}}, {"free": {"a_b": 1}}),
        ({"other": {"a_b": 1}}, {"other": {"a_b": 1}}),
    ],
)
def test_keys_are_renamed_back_where_the_schema_has_them(name: str, sent: Any, meant: Any) -> None:
    assert back(name, ODD, sent) == meant


@EVERY
def test_whole_floats_become_integers_where_the_schema_says_integer(name: str) -> None:
    integer = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {
            "i": integer,
            "n": {"type": "number"},
            "maybe": {"type": ["integer", "null"]},
            "deep": {"oneOf": [{"type": "array", "items": integer}]},
            "text": {"type": "string"},
        },
        "patternProperties": {"^k": integer},
    }
    sent = {"i": 2.0, "n": 2.0, "maybe": 3.0, "deep": [4.0, 4.5], "text": "2.0", "k1": 5.0}
    assert repr(back(name, schema, sent)) == repr(
        {"i": 2, "n": 2.0, "maybe": 3, "deep": [4, 4.5], "text": "2.0", "k1": 5}
    )


@EVERY
@pytest.mark.requirement("I11.1.20")
def test_objects_and_arrays_that_came_as_strings_are_read_where_no_string_is_meant(name: str) -> None:
    inner = {"type": "object", "properties": {"i": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {
            "object": {"$ref": "#/$defs/Inner"},
            "list": {"type": "array", "items": inner},
            "either": {"anyOf": [inner, {"type": "string"}]},
            "named": {"anyOf": [inner, {"enum": ["{}"]}]},
            "text": {"type": "string"},
            "any": {},
            "broken": inner,
            "other": inner,
        },
        "$defs": {"Inner": inner},
    }
    same = {"either": '{"i": 1}', "named": "{}", "text": "[1]", "any": "{}", "broken": '{"i', "other": "[1]"}
    sent = {"object": '{"i": 2.0}', "list": '[{"i": 3.0}, "{}"]', **same}
    assert repr(back(name, schema, sent)) == repr({"object": {"i": 2}, "list": [{"i": 3}, {}], **same})


@EVERY
def test_a_float_beyond_exact_integers_is_left_alone(name: str) -> None:
    schema = {"type": "object", "properties": {"i": {"type": "integer"}}}
    assert repr(back(name, schema, {"i": 1e300})) == repr({"i": 1e300})


@EVERY
def test_arguments_of_a_tool_that_was_left_out_come_back_as_they_are(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "https://x.test/s"}}}
    assert back(name, schema, {"a": 1.0}) == {"a": 1.0}


@EVERY
def test_recursive_arguments_are_walked_to_their_end(name: str) -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}}}
    arguments: dict[str, Any] = {"n": 1.0}
    for _ in range(50):
        arguments = {"n": 1.0, "next": arguments}
    schema = {"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert "1.0" not in repr(back(name, schema, {"root": arguments}))
