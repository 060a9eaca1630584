"""The table of schema constructs: what each format sends for each, and what it reports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.compiled import property_as_sent, reported, sent, tool
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable

pytestmark = pytest.mark.requirement("I2.6.2")

EVERY = pytest.mark.parametrize("name", format_names())
STRING = {"type": "string"}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
}

# construct, as the property "p": what OpenAI, Bedrock, Gemini and Ollama are sent for it
AS_IT_IS = object()
CELLS: list[tuple[str, Any, Any, Any, Any, Any]] = [
    ("any of", {"anyOf": [STRING, {"type": "null"}]}, AS_IT_IS, AS_IT_IS, AS_IT_IS, AS_IT_IS),
    ("one of", {"oneOf": [STRING]}, AS_IT_IS, AS_IT_IS, AS_IT_IS, {"anyOf": [STRING]}),
    (
        "all of",
        {"allOf": [{"type": "string", "enum": ["a", "b"]}, {"enum": ["b"]}]},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "string", "enum": ["b"]},
        {"type": "string", "enum": ["b"]},
    ),
    (
        "not",
        {"type": "string", "not": {"const": "a"}},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "string", "description": 'Must not match {"enum":["a"],"type":"string"}.'},
        {"type": "string", "description": 'Must not match {"enum":["a"],"type":"string"}.'},
    ),
    (
        "condition",
        {"type": "integer", "if": {"minimum": 1}, "then": {"maximum": 2}, "else": {"maximum": 3}},
        AS_IT_IS,
        AS_IT_IS,
        {
            "type": "integer",
            "description": 'If it matches {"minimum":1}: then it matches {"maximum":2}. '
            'otherwise it matches {"maximum":3}.',
        },
        None,
    ),
    (
        "map",
        {"type": "object", "properties": {}, "additionalProperties": STRING},
        AS_IT_IS,
        AS_IT_IS,
        AS_IT_IS,
        {**EMPTY, "description": 'Any other property: {"type":"string"}.'},
    ),
    (
        "closed object",
        {"type": "object", "properties": {}, "additionalProperties": False},
        AS_IT_IS,
        AS_IT_IS,
        AS_IT_IS,
        EMPTY,
    ),
    (
        "property names",
        {"type": "object", "properties": {}, "propertyNames": {"type": "string"}},
        AS_IT_IS,
        AS_IT_IS,
        {**EMPTY, "description": 'Property names match {"type":"string"}.'},
        {**EMPTY, "description": 'Property names match {"type":"string"}.'},
    ),
    ("type list", {"type": ["string", "null"]}, AS_IT_IS, AS_IT_IS, AS_IT_IS, AS_IT_IS),
    ("enum", {"type": "string", "enum": ["a"]}, AS_IT_IS, AS_IT_IS, AS_IT_IS, AS_IT_IS),
    (
        "enum of other values",
        {"enum": [True, {"a": 1}]},
        AS_IT_IS,
        AS_IT_IS,
        {"type": ["boolean", "object"], "description": 'One of: [true,{"a":1}].'},
        {"type": ["boolean", "object"], "enum": [True, {"a": 1}], "properties": {}},
    ),
    (
        "enum with null",
        {"type": ["string", "null"], "enum": ["a", None]},
        AS_IT_IS,
        AS_IT_IS,
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        AS_IT_IS,
    ),
    (
        "const",
        {"const": 3},
        AS_IT_IS,
        AS_IT_IS,
        {"enum": [3], "type": "integer"},
        {"enum": [3], "type": "integer"},
    ),
    (
        "default",
        {"type": "integer", "default": 5},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "integer", "description": "Default: 5."},
        {"type": "integer", "description": "Default: 5."},
    ),
    (
        "format",
        {"type": "string", "format": "date", "description": "When."},
        AS_IT_IS,
        AS_IT_IS,
        AS_IT_IS,
        {"type": "string", "description": "When. Format: date."},
    ),
    (
        "bounds",
        {"type": "number", "minimum": 1, "maximum": 2.5},
        AS_IT_IS,
        AS_IT_IS,
        AS_IT_IS,
        {"type": "number", "description": "At most 2.5. At least 1."},
    ),
    (
        "exclusive bounds of integers",
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9.0},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "integer", "minimum": 1, "maximum": 8},
        {"type": "integer", "description": "Less than 9.0. Greater than 0."},
    ),
    (
        "exclusive bounds of numbers",
        {"type": "number", "exclusiveMinimum": 0.5},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "number", "description": "Greater than 0.5."},
        {"type": "number", "description": "Greater than 0.5."},
    ),
    (
        "length and pattern",
        {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^a"},
        AS_IT_IS,
        AS_IT_IS,
        {
            "type": "string",
            "description": "At most 2 characters. At least 1 character. Matches the pattern ^a",
        },
        {
            "type": "string",
            "description": "At most 2 characters. At least 1 character. Matches the pattern ^a",
        },
    ),
    (
        "array without items",
        {"type": "array"},
        {"type": "array", "items": {}},
        AS_IT_IS,
        {"type": "array", "items": {}},
        {"type": "array", "items": {}},
    ),
    (
        "tuple",
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}]},
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "items": {}},
        AS_IT_IS,
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}], "items": {}},
        {
            "type": "array",
            "items": {"anyOf": [STRING, {"type": "integer"}]},
            "description": "Items in this order: string, integer.",
        },
    ),
    ("boolean schema", True, {}, AS_IT_IS, {}, {}),
    ("object without properties", {"type": "object"}, EMPTY, AS_IT_IS, AS_IT_IS, EMPTY),
    (
        "informative title",
        {"type": "string", "title": "City of birth"},
        AS_IT_IS,
        AS_IT_IS,
        AS_IT_IS,
        {"type": "string", "description": "Title: City of birth."},
    ),
    ("title like the name", {"type": "string", "title": "P"}, AS_IT_IS, AS_IT_IS, AS_IT_IS, STRING),
    (
        "examples",
        {"type": "string", "examples": ["a", "b"]},
        AS_IT_IS,
        AS_IT_IS,
        {"type": "string", "description": 'Examples: "a", "b".'},
        {"type": "string", "description": 'Examples: "a", "b".'},
    ),
    ("limits inside items", {"type": "array", "items": {"type": "integer", "minimum": 1}}, *[AS_IT_IS] * 4),
    (
        "notes for tools",
        {"$comment": "c", "$id": "https://x.test/p", "type": "string", "x-order": 3},
        *[STRING] * 4,
    ),
    (
        "bounds of draft 4",
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": "9",
            "exclusiveMaximum": False,
        },
        {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
        {"type": "integer", "exclusiveMinimum": 1, "maximum": 9},
        {"type": "integer", "minimum": 2, "maximum": 9},
        {"type": "integer", "description": "Greater than 1. At most 9."},
    ),
]
ROWS = [
    pytest.param(name, schema, expected, id=f"{label}-{name}")
    for label, schema, *row in CELLS
    for name, expected in zip(("openai", "bedrock", "gemini", "ollama"), row, strict=True)
    if expected is not None
]


@pytest.mark.parametrize(("name", "schema", "expected"), ROWS)
def test_each_construct_is_sent_as_the_table_says(name: str, schema: Any, expected: Any) -> None:
    assert property_as_sent(name, schema) == (schema if expected is AS_IT_IS else expected)


@EVERY
@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"properties": {}}, True, {"type": ["object", "null"]}]
)
def test_a_bare_root_becomes_an_object_without_properties(name: str, schema: Any) -> None:
    assert sent(name, schema) == EMPTY
    assert reported(name, schema) == set()


@EVERY
def test_a_root_of_another_type_is_sent_as_an_object_and_reported(name: str) -> None:
    assert sent(name, {"type": "string"}) == EMPTY
    assert reported(name, {"type": "string"}) == {("/type", "root-type")}


@EVERY
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if"])
def test_a_root_with_combinators_is_wrapped(name: str, keyword: str) -> None:
    value: Any = {"anyOf": [EMPTY], "oneOf": [EMPTY], "allOf": [EMPTY], "enum": [{}], "const": {}}.get(
        keyword, {}
    )
    wrapped = sent(name, {"type": "object", keyword: value})
    assert wrapped["type"] == "object" and wrapped["required"] == list(wrapped["properties"]) == ["input"]
    assert ("", "wrap-root") in reported(name, {"type": "object", keyword: value})


@pytest.mark.parametrize("name", ["bedrock", "openai"])
def test_a_wrapped_roots_references_follow_it(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "kind": {"$ref": "#/definitions/Kind"}},
        "anyOf": [{"required": ["child"]}, {"required": ["kind"]}],
        "definitions": {"Kind": {"type": "string"}},
    }
    wrapped = sent(name, schema)
    assert wrapped["$defs"] == {"Kind": {"type": "string"}}
    assert wrapped["properties"]["input"]["properties"] == {
        "child": {"$ref": "#/properties/input"},
        "kind": {"$ref": "#/$defs/Kind"},
    }


@EVERY
def test_a_reference_at_the_root_is_followed(name: str) -> None:
    schema = {
        "$ref": "#/definitions/A",
        "definitions": {"A": {"type": "object", "properties": {"a": STRING}}},
    }
    assert sent(name, schema)["properties"] == {"a": STRING}
    assert reported(name, schema) == set()


@pytest.mark.parametrize("name", ["bedrock", "gemini", "openai"])
def test_plain_references_are_kept(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": STRING}}
    assert sent(name, schema) == schema


def test_ollama_gets_references_inlined() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "description": "mine"}},
        "$defs": {"A": {"type": "string", "description": "theirs"}},
    }
    assert sent("ollama", schema)["properties"] == {"a": {"type": "string", "description": "mine"}}


def test_gemini_gets_a_reference_with_neighbours_inlined() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "minimum": 2}, "b": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "integer", "minimum": 1}},
    }
    plain = {"type": "integer", "minimum": 1}
    assert sent("gemini", schema)["properties"] == {"a": {**plain, "minimum": 2}, "b": plain}


@pytest.mark.parametrize("name", ["gemini", "ollama"])
def test_recursion_is_cut_after_three_levels_and_reported(name: str) -> None:
    node, depth = sent(name, TREE)["properties"]["root"], 0
    while "next" in node.get("properties", {}):
        node, depth = node["properties"]["next"], depth + 1
    assert depth == 3 and node["description"] == "The same shape again."
    assert reported(name, TREE) == {("/$defs/Node/properties/next", "recursion")}


@pytest.mark.parametrize("name", ["bedrock", "openai"])
def test_recursion_is_kept_where_it_may_be(name: str) -> None:
    assert sent(name, TREE)["properties"] == TREE["properties"]
    assert reported(name, TREE) == set()


@EVERY
def test_references_that_multiply_without_end_stay_small(name: str) -> None:
    definitions: dict[str, Any] = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcdefgh"}}
        for n in range(30)
    }
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "$defs": {**definitions, "d30": STRING},
    }
    assert len(str(sent(name, schema))) < 100_000


@EVERY
def test_references_that_lead_only_to_each_other_end(name: str) -> None:
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert sent(name, loop)["type"] == "object"


@pytest.mark.parametrize(
    "ref",
    [
        "#/properties/b",
        "#named",
        "#/components/schemas/B",
        "#/properties/c/$defs/d",
        "https://x.test/s#/$defs/B",
    ],
)
def test_references_to_anywhere_in_the_document_are_understood(ref: str) -> None:
    schema = {
        "$id": "https://x.test/s",
        "type": "object",
        "properties": {
            "a": {"$ref": ref},
            "b": STRING,
            "c": {"type": "object", "properties": {}, "$defs": {"d": STRING}},
        },
        "$defs": {"B": STRING, "N": {"$anchor": "named", **STRING}},
        "components": {"schemas": {"B": STRING}},
    }
    assert sent("ollama", schema)["properties"]["a"] == STRING
    kept = sent("openai", schema)
    name = kept["properties"]["a"]["$ref"].removeprefix("#/$defs/")
    assert kept["$defs"][name] == STRING
    assert ref.startswith("#/components") != ("components" in kept)


def test_what_several_references_point_at_is_moved_once() -> None:
    again = {"$ref": "#/properties/b"}
    schema = {"type": "object", "properties": {"a": again, "b": STRING, "c": again}}
    assert len(sent("openai", schema)["$defs"]) == 1


@EVERY
@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        ({"$ref": "https://x.test/other.json"}, "external-ref"),
        ({"$ref": "other.json#/a"}, "external-ref"),
        ({"$ref": "#/$defs/none"}, "dangling-ref"),
        ({"$ref": "#/properties/a/enum/0", "enum": ["x"]}, "dangling-ref"),
        ({"type": "float"}, "invalid-schema"),
        ({"type": "string", "minLength": -1}, "invalid-schema"),
        ({"properties": []}, "invalid-schema"),
    ],
)
def test_a_schema_that_no_provider_takes_is_left_out_and_reported(name: str, bad: Any, rule: str) -> None:
    schema = {"type": "object", "properties": {"a": bad}}
    assert sent(name, schema) is None
    ((pointer, found),) = reported(name, schema)
    assert found == rule and pointer.startswith("/properties/a")


@EVERY
def test_a_schema_nested_without_end_is_left_out(name: str) -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    assert sent(name, schema) is None
    assert reported(name, schema) == {("", "too-deep")}


@EVERY
def test_null_keywords_repeated_names_and_flags_of_old_drafts_are_put_right(name: str) -> None:
    schema = {
        "type": "object",
        "title": None,
        "required": ["a", "a"],
        "properties": {
            "a": {"type": ["string", "string"], "required": True},
            "b": {"type": "string", "required": True},
        },
    }
    assert sent(name, schema) == {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }


def test_dependencies_of_draft_7_become_two_keywords() -> None:
    schema = {"type": "object", "properties": {}, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}
    upgraded = sent("openai", schema)
    assert upgraded["dependentRequired"] == {"a": ["b"]}
    assert upgraded["dependentSchemas"] == {"c": {"required": ["d"]}}


def test_tuples_of_old_drafts_become_prefix_items() -> None:
    old = {"type": "array", "items": [STRING], "additionalItems": {"type": "integer"}}
    assert property_as_sent("bedrock", old) == {
        "type": "array",
        "prefixItems": [STRING],
        "items": {"type": "integer"},
    }


def test_a_forbidden_property_is_left_out() -> None:
    schema = {"type": "object", "properties": {"a": False, "b": STRING}, "required": ["a", "b"]}
    assert sent("openai", schema) == {"type": "object", "properties": {"b": STRING}, "required": ["b"]}
    assert reported("openai", schema) == {("/properties/a", "boolean-schema")}
    assert sent("bedrock", schema) == schema


def test_branches_of_all_of_are_merged() -> None:
    merged = property_as_sent(
        "gemini",
        {
            "description": "Outer.",
            "allOf": [
                {"type": "object", "properties": {"n": {"type": "number", "minimum": 1}}, "required": ["n"]},
                {
                    "properties": {"n": {"type": "integer", "minimum": 2, "maximum": 9}, "m": {}},
                    "required": ["m"],
                },
            ],
        },
    )
    assert merged == {
        "description": "Outer.",
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 2, "maximum": 9}, "m": {}},
        "required": ["n", "m"],
    }


def test_what_cannot_be_merged_is_described_and_reported() -> None:
    schema = {"type": "object", "properties": {"p": {"allOf": [{"format": "uri"}, {"format": "date"}]}}}
    assert property_as_sent("gemini", schema["properties"]["p"]) == {
        "format": "uri",
        "description": 'Also: format "date".',
    }
    assert reported("gemini", schema) == {("/properties/p", "all-of")}


@pytest.mark.parametrize(
    ("name", "key", "renamed"),
    [
        ("bedrock", "content type", "content_type"),
        ("bedrock", "año", "a_o"),
        ("bedrock", "a.b-c", "a.b-c"),
        ("gemini", "a.b-c", "a_b_c"),
        ("gemini", "9", "_9"),
        ("openai", "content type", "content type"),
        ("ollama", "$filter", "$filter"),
    ],
)
def test_property_keys_are_renamed_where_they_must_be(name: str, key: str, renamed: str) -> None:
    schema = {"type": "object", "properties": {key: STRING}, "required": [key]}
    found = sent(name, schema)
    assert list(found["properties"]) == found["required"] == [renamed]
    if key != renamed:
        assert found["properties"][renamed]["description"] == f"(Really named {key!r}.)"
        assert reported(name, schema) == {(f"/properties/{key}", "property-key")}


def test_renamed_keys_never_meet() -> None:
    schema = {"type": "object", "properties": {"a b": STRING, "a_b": STRING, "a/b": STRING, "x" * 70: STRING}}
    keys = list(sent("bedrock", schema)["properties"])
    assert len(set(keys)) == 4 and "a_b" in keys and max(map(len, keys)) == 64


def test_renamed_keys_are_renamed_in_dependencies_and_examples_too() -> None:
    schema = {
        "type": "object",
        "properties": {"a b": STRING, "c": STRING},
        "dependentRequired": {"a b": ["c"], "c": ["a b"]},
        "examples": [{"a b": ["x"], "z": {"a b": 1}}],
    }
    found = sent("bedrock", schema)
    assert found["dependentRequired"] == {"a_b": ["c"], "c": ["a_b"]}
    assert found["examples"] == [{"a_b": ["x"], "z": {"a_b": 1}}]


def test_ollamas_root_has_no_description_so_it_joins_the_tools() -> None:
    spec = tool({"type": "object", "description": "Root.", "minProperties": 1})
    function = get_format("ollama").render_tools([spec], NameTable.of([spec]))[0]["function"]
    assert function["description"] == "d Root. At least 1 property."
    assert function["parameters"] == EMPTY


def test_a_long_sentence_is_cut() -> None:
    described = property_as_sent("ollama", {"type": "string", "default": "x" * 9999})["description"]
    assert len(described) == 400 and described.endswith("…")


@EVERY
def test_losses_say_what_is_sent_instead(name: str) -> None:
    schema = {"type": "object", "properties": {"a b": {"type": "string", "pattern": "^x", "x-ui": "wide"}}}
    losses = {loss.rule: loss.repair for loss in get_format(name).losses([tool(schema)])}
    assert losses["extension"] == "'x-ui' left out"
    if name in ("gemini", "ollama"):
        assert losses["keyword"] == "described: Matches the pattern ^x"
    if name in ("gemini", "bedrock"):
        assert losses["property-key"] == "sent as 'a_b' and renamed on the way back"
