"""Strict modes: taken where nothing is lost, by the providers' own rules, and undone on the way back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import schemas
from tests.support.provider_rules import strict as rules
from toolspan_bridge.formats import Loss, format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.formats.shared.schemas import (
    ANTHROPIC_STRICT,
    OPENAI_STRICT,
    Plan,
    Strict,
)
from toolspan_bridge.formats.shared.tools.compile import CompiledTools, compile_tools, restore
from toolspan_bridge.messages import ToolSpec

pytestmark = pytest.mark.requirement("I5.2.1")

STRICT_FORMATS = {"openai", "openai-responses", "anthropic", "bedrock-anthropic"}
THOROUGH = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
STRING = {"type": "string"}
NULL = {"type": "null"}
NOT_STRICT = object()


def asking(schema: Any, name: str = "t") -> ToolSpec:
    return ToolSpec("s", name, "d", schema, strict=True)


def prepared(mode: Strict, *tools: ToolSpec) -> CompiledTools:
    return compile_tools(tools, NameTable.of(tools), Plan(), strict=mode)


def property_as_sent(mode: Strict, schema: Any, *, required: bool = True) -> Any:
    """What strict ``mode`` sends for the property ``p``; ``NOT_STRICT`` where it is not taken."""
    whole = {"type": "object", "properties": {"p": schema}, "required": ["p"] if required else []}
    (tool,) = prepared(mode, asking(whole)).tools
    return tool.schema["properties"]["p"] if tool.strict else NOT_STRICT


def closed(properties: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


# construct, the required property "p": what OpenAI's strict mode is sent for it, and Anthropic's
CELLS: list[tuple[str, Any, Any, Any]] = [
    ("any of", {"anyOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}),
    ("one of", {"oneOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}),
    (
        "all of",
        {"allOf": [STRING, {"enum": ["a"]}]},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "enum": ["a"]},
    ),
    (
        "not",
        {"type": "string", "not": {"enum": ["a"]}},
        {"type": "string", "description": 'Must not match {"enum":["a"],"type":"string"}.'},
        {"type": "string", "description": 'Must not match {"enum":["a"]}.'},
    ),
    (
        "condition",
        {"type": "string", "if": {"enum": ["a"]}, "then": {"enum": ["b"]}},
        {
            "type": "string",
            "description": 'If it matches {"enum":["a"],"type":"string"}: '
            'then it matches {"enum":["b"],"type":"string"}.',
        },
        {"type": "string", "description": 'If it matches {"enum":["a"]}: then it matches {"enum":["b"]}.'},
    ),
    ("map", {"type": "object", "additionalProperties": STRING}, NOT_STRICT, NOT_STRICT),
    ("pattern properties", {"type": "object", "patternProperties": {"^x": STRING}}, NOT_STRICT, NOT_STRICT),
    ("property names", closed({"a": STRING}, propertyNames={"maxLength": 2}), NOT_STRICT, NOT_STRICT),
    ("open on purpose", {**closed({}), "additionalProperties": True}, NOT_STRICT, NOT_STRICT),
    ("free-form object", {"type": "object"}, NOT_STRICT, NOT_STRICT),
    ("any value", {}, NOT_STRICT, NOT_STRICT),
    ("true", True, NOT_STRICT, NOT_STRICT),
    (
        "optional property",
        closed({"a": STRING}),
        closed({"a": {"type": ["string", "null"]}}, required=["a"]),
        closed({"a": STRING}),
    ),
    (
        "nullable type",
        {"type": ["integer", "null"], "description": "n"},
        {"type": ["integer", "null"], "description": "n"},
        {"anyOf": [{"type": "integer"}, NULL], "description": "n"},
    ),
    (
        "several types with values",
        {"type": ["integer", "string", "boolean"], "enum": [1, "a"]},
        {"type": ["integer", "string", "boolean"], "enum": [1, "a"]},
        {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "string", "enum": ["a"]}]},
    ),
    ("enum of numbers", {"enum": [1, 2]}, {"type": "integer", "enum": [1, 2]}, {"enum": [1, 2]}),
    (
        "enum of objects",
        {"type": "object", "enum": [{"a": 1}]},
        NOT_STRICT,
        NOT_STRICT,
    ),
    ("const", {"const": "a"}, {"type": "string", "enum": ["a"]}, {"const": "a"}),
    (
        "default",
        {"type": "string", "default": "a"},
        {"type": "string", "description": 'Default: "a".'},
        {"type": "string", "description": 'Default: "a".'},
    ),
    (
        "known format",
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "date"},
    ),
    (
        "web address",
        {"type": "string", "format": "uri"},
        {"type": "string", "description": "Format: uri."},
        {"type": "string", "format": "uri"},
    ),
    (
        "unknown format",
        {"type": "string", "format": "iri"},
        {"type": "string", "description": "Format: iri."},
        {"type": "string", "description": "Format: iri."},
    ),
    (
        "bounds",
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        {"type": "integer", "description": "Less than 9. At least 1."},
    ),
    (
        "length",
        {"type": "string", "maxLength": 3},
        {"type": "string", "description": "At most 3 characters."},
        {"type": "string", "description": "At most 3 characters."},
    ),
    (
        "pattern",
        {"type": "string", "pattern": "^a"},
        {"type": "string", "pattern": "^a"},
        {"type": "string", "description": "Matches the pattern ^a"},
    ),
    (
        "least items",
        {"type": "array", "items": STRING, "minItems": 1},
        {"type": "array", "items": STRING, "minItems": 1},
        {"type": "array", "items": STRING, "minItems": 1},
    ),
    (
        "more items",
        {"type": "array", "items": STRING, "minItems": 2, "maxItems": 3},
        {"type": "array", "items": STRING, "minItems": 2, "maxItems": 3},
        {"type": "array", "items": STRING, "description": "At most 3 items. At least 2 items."},
    ),
    ("array without items", {"type": "array"}, NOT_STRICT, NOT_STRICT),
    (
        "tuple",
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}]},
        {
            "type": "array",
            "items": {"anyOf": [STRING, {"type": "integer"}]},
            "description": "Items in this order: string, integer.",
        },
        {
            "type": "array",
            "items": {"anyOf": [STRING, {"type": "integer"}]},
            "description": "Items in this order: string, integer.",
        },
    ),
    (
        "contradicting branches",
        {"allOf": [{"type": "string", "format": "date"}, {"format": "time"}]},
        NOT_STRICT,
        NOT_STRICT,
    ),
    ("undescribed and required", closed({"a": STRING}, required=["a", "b"]), NOT_STRICT, NOT_STRICT),
]


@pytest.mark.parametrize(
    ("schema", "openai", "anthropic"), [cell[1:] for cell in CELLS], ids=[c[0] for c in CELLS]
)
def test_each_construct_is_sent_as_the_table_says(schema: Any, openai: Any, anthropic: Any) -> None:
    assert property_as_sent(OPENAI_STRICT, schema) == openai
    assert property_as_sent(ANTHROPIC_STRICT, schema) == anthropic


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (STRING, {"type": ["string", "null"]}),
        ({"enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"anyOf": [STRING], "title": "Other"}, {"anyOf": [STRING, NULL], "description": "Title: Other."}),
        (closed({"a": STRING}, required=["a"]), {"anyOf": [closed({"a": STRING}, required=["a"]), NULL]}),
        (
            {"type": "array", "items": STRING, "description": "Names"},
            {"anyOf": [{"type": "array", "items": STRING}, NULL], "description": "Names"},
        ),
    ],
)
def test_openai_takes_null_for_an_optional_property(schema: Any, sent: Any) -> None:
    assert property_as_sent(OPENAI_STRICT, schema, required=False) == sent


@pytest.mark.requirement("I11.1.15")
@pytest.mark.parametrize("pattern", ["^(?=a).+$", "^(?!a)", "(?<=a)b", "(?<!a)b"])
def test_what_openai_refuses_of_a_string_is_described(pattern: str) -> None:
    schema = {**STRING, "pattern": pattern, "minLength": 2, "default": "ab"}
    sent = property_as_sent(OPENAI_STRICT, schema)
    assert sent.keys() == {"type", "description"}
    assert pattern in sent["description"] and "At least 2 characters." in sent["description"]
    assert property_as_sent(OPENAI_STRICT, {**STRING, "pattern": "^(?:a|b)$"})["pattern"] == "^(?:a|b)$"


def test_references_with_words_beside_them_are_inlined_or_kept_in_an_any_of() -> None:
    schema = closed(
        {"a": {"$ref": "#/$defs/A", "description": "one"}, "t": {"$ref": "#/$defs/T", "description": "tree"}},
        required=["a", "t"],
    )
    tree = closed({"next": {"anyOf": [{"$ref": "#/$defs/T"}, NULL]}}, required=["next"])
    schema["$defs"] = {"A": STRING, "T": tree}
    (sent,) = prepared(OPENAI_STRICT, asking(schema)).tools
    assert sent.strict
    assert sent.schema["properties"] == {
        "a": {"type": "string", "description": "one"},
        "t": {"description": "tree", "anyOf": [{"$ref": "#/$defs/T"}]},
    }
    assert sent.schema["$defs"] == {"T": tree}
    rules.check_openai(sent.schema)
    (loose,) = prepared(ANTHROPIC_STRICT, asking(schema)).tools
    assert not loose.strict


def test_a_recursive_reference_with_constraints_beside_it_is_not_strict() -> None:
    schema = closed({"t": {"$ref": "#/$defs/T", "minProperties": 1}}, required=["t"])
    schema["$defs"] = {"T": closed({"next": {"$ref": "#/$defs/T"}}, required=["next"])}
    (tool,) = prepared(OPENAI_STRICT, asking(schema)).tools
    assert not tool.strict


def test_a_root_with_combinators_is_wrapped_and_strict() -> None:
    branches = [closed({"a": STRING}), closed({"b": STRING}, required=["b"])]
    (sent,) = prepared(ANTHROPIC_STRICT, asking({"anyOf": branches})).tools
    assert sent.strict and sent.schema["properties"] == {"input": {"anyOf": branches}}
    assert restore(asking({"anyOf": branches}), {"input": {"a": None}}, Plan(), OPENAI_STRICT) == {}


def test_a_union_that_takes_anything_beside_its_branches_is_not_strict() -> None:
    loose = {
        "type": "object",
        "properties": {"a": STRING},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    (sent,) = prepared(OPENAI_STRICT, asking(loose)).tools
    assert not sent.strict


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "properties",
        closed({f"p{number}": STRING for number in range(5_001)}),
        "it has 5,001 properties, and at most 5,000 are taken",
    ),
    ("enum values", closed({"p": {"enum": list(range(1_001))}}, required=["p"]), "it has 1,001 enum values"),
    ("characters", closed({"p": {"enum": ["x" * 60_000, "y" * 60_000]}}), "characters of names and values"),
]


@pytest.mark.parametrize(("schema", "reason"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_is_too_large_for_openai_is_not_strict(schema: Any, reason: str) -> None:
    found = prepared(OPENAI_STRICT, asking(schema))
    assert not found.tools[0].strict
    assert any(reason in loss.repair for loss in found.losses)


def test_more_than_ten_levels_are_not_strict() -> None:
    schema: dict[str, Any] = STRING
    for levels in range(1, 12):
        schema = closed({"a": schema}, required=["a"])
        (tool,) = prepared(OPENAI_STRICT, asking(schema)).tools
        assert tool.strict == (levels <= 10)


def test_why_a_tool_is_not_strict_is_said_at_its_place() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}}
    found = prepared(OPENAI_STRICT, asking(schema))
    assert found.losses == (
        Loss(
            "s__t",
            "/properties/a/items",
            "not-strict",
            "sent without strict: the object takes properties that it does not name",
            "warning",
            "write this part with a type, named properties and no further ones, or do without strict",
        ),
    )
    assert found.tools[0].schema == schema


def test_a_tool_that_does_not_ask_is_not_strict() -> None:
    spec = ToolSpec("s", "t", "d", {"type": "object", "properties": {"a": STRING}})
    found = prepared(OPENAI_STRICT, spec)
    assert not found.tools[0].strict and not found.losses
    assert restore(spec, {"a": None}, Plan(), OPENAI_STRICT) == {"a": None}


@pytest.mark.parametrize(
    ("schema", "count", "reason"),
    [
        (closed({"a": STRING}, required=["a"]), 20, "at most 20 strict tools"),
        (closed({f"p{number}": STRING for number in range(7)}), 3, "at most 24 optional properties"),
        (closed({"a": {"type": ["string", "null"]}}, required=["a"]), 16, "at most 16 unions"),
    ],
)
def test_anthropics_limits_hold_for_all_strict_tools_together(schema: Any, count: int, reason: str) -> None:
    tools = [asking(schema, f"t{number:02}") for number in range(count + 2)]
    found = prepared(ANTHROPIC_STRICT, *tools)
    assert [tool.strict for tool in found.tools] == [True] * count + [False] * 2
    said = [loss for loss in found.losses if loss.rule == "not-strict"]
    assert len(said) == 2 and all(reason in loss.repair for loss in said)
    assert found.tools[-1].schema == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"$ref": "#/$defs/Maybe"},
        {"enum": ["a", None]},
        {"oneOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]},
    ],
)
def test_where_null_could_mean_two_things_strict_is_not_taken(schema: Any) -> None:
    maybe = {"Maybe": {"anyOf": [{"type": "integer"}, NULL]}}
    whole = {"type": "object", "properties": {"a": schema}, "$defs": maybe}
    found = prepared(OPENAI_STRICT, asking(whole))
    assert not found.tools[0].strict
    assert [(loss.rule, loss.pointer) for loss in found.losses if loss.severity != "info"] == [
        ("not-strict", "/properties/a")
    ]


def test_nulls_that_stand_for_nothing_are_taken_out_and_others_stay() -> None:
    schema = {
        "type": "object",
        "properties": {
            "gone": STRING,
            "nullable": {"type": ["string", "null"]},
            "maybe": {"$ref": "#/$defs/Maybe"},
            "list": {
                "type": "array",
                "items": closed({"deep": STRING, "kept": {"enum": ["a", None]}}, required=["kept"]),
            },
            "needed": STRING,
            "branches": {"anyOf": [closed({"x": STRING}), closed({"y": STRING}, required=["y"])]},
        },
        "required": ["needed", "branches", "nullable", "maybe"],
        "$defs": {"Maybe": {"anyOf": [{"type": "integer"}, NULL]}},
    }
    (sent,) = prepared(OPENAI_STRICT, asking(schema)).tools
    assert sent.strict
    rules.check_openai(sent.schema)
    given = {
        "gone": None,
        "nullable": None,
        "maybe": None,
        "list": [{"deep": None, "kept": None}],
        "needed": None,
        "branches": {"x": None},
        "unknown": None,
    }
    assert restore(asking(schema), given, Plan(), OPENAI_STRICT) == {
        "nullable": None,
        "maybe": None,
        "list": [{"kept": None}],
        "needed": None,
        "branches": {},
        "unknown": None,
    }


@pytest.mark.parametrize("name", format_names())
def test_every_format_honours_strict_or_says_that_it_does_not(name: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": STRING}, "required": ["b"]}
    spec = asking(schema)
    module = get_format(name)
    payload = str(module.render_tools([spec], NameTable.of([spec])))
    refused = [loss for loss in module.losses([spec]) if loss.rule == "not-strict"]
    assert ("'strict': True" in payload) == (not refused)
    assert refused == [] or refused[0].severity == "warning"
    assert name not in STRICT_FORMATS or not refused
    restored = module.restore(spec, {"a": 1.0, "b": "x"})
    assert repr(restored) == repr({"a": 1, "b": "x"})
    if name.startswith("openai"):
        assert module.restore(spec, {"a": None, "b": "x"}) == {"b": "x"}


@THOROUGH
@given(schema=schemas.SCHEMAS)
def test_whatever_is_sent_strictly_obeys_the_strict_rules(schema: dict[str, Any]) -> None:
    for mode, check in ((OPENAI_STRICT, rules.check_openai), (ANTHROPIC_STRICT, rules.check_anthropic)):
        found = prepared(mode, asking(schema))
        told = any(loss.rule == "not-strict" or loss.severity == "error" for loss in found.losses)
        assert all(tool.strict for tool in found.tools) != told or not found.tools
        for tool in found.tools:
            if tool.strict:
                check(tool.schema)


def _some_left_out(draw: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _some_left_out(draw, inner) for key, inner in value.items() if draw(st.booleans())}
    return [_some_left_out(draw, inner) for inner in value] if isinstance(value, list) else value


def _written(schema: Any, value: Any) -> Any:
    """As a strict model writes it: every property given, null for one that is left out."""
    if schema["type"] == "object":
        return {
            key: _written(inner, value[key]) if key in value else None
            for key, inner in schema["properties"].items()
        }
    return [_written(schema["items"], inner) for inner in value] if schema["type"] == "array" else value


def _without_empty(schema: Any) -> Any:
    """The same with a property in every object, so that none is free-form."""
    if schema["type"] == "array":
        return {**schema, "items": _without_empty(schema["items"])}
    if schema["type"] != "object":
        return schema
    named = {key: _without_empty(inner) for key, inner in schema["properties"].items()}
    return {**schema, "properties": named or {"only": STRING}}


@THOROUGH
@given(case=schemas.CASES, data=st.data())
def test_what_a_strict_model_writes_comes_back_as_it_was_meant(
    case: tuple[dict[str, Any], dict[str, Any]], data: st.DataObject
) -> None:
    schema, arguments = _without_empty(case[0]), _some_left_out(data.draw, case[1])
    found = prepared(OPENAI_STRICT, asking(schema))
    assert found.tools[0].strict
    rules.check_openai(found.tools[0].schema)
    assert restore(asking(schema), _written(schema, arguments), Plan(), OPENAI_STRICT) == arguments
