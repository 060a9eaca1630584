"""Hypothesis strategies for JSON Schemas as MCP servers write them, and for arguments that fit."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(
    [
        "a",
        "b",
        "city",
        "input",
        "$filter",
        "content type",
        "año",
        "x.y",
        "9lives",
        "k" * 70,
        "a/b~c",
        "a_b",
        "a b",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9, width=16) | st.text(max_size=4)
_NUMBER_KEYWORDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
_COUNT_KEYWORDS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]
_TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"]
_REFS = ["#", "#/$defs/A", "#/$defs/B", "#/definitions/C", "#/properties/a", "#anchor"]


def _leaves() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(_TYPES) | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3),
            "enum": st.lists(SCALARS, max_size=3),
            "const": SCALARS,
            "default": SCALARS,
            "description": st.text(max_size=6),
            "title": st.sampled_from(["City", "Other"]),
            "format": st.sampled_from(["date", "uri"]),
            "pattern": st.just("^a+$"),
            "examples": st.lists(SCALARS, max_size=2),
            "x-order": st.integers(0, 9),
            "$comment": st.just("note"),
            "nullable": st.booleans(),
            "multipleOf": st.integers(1, 5),
            "uniqueItems": st.booleans(),
            **{keyword: st.integers(-5, 5) for keyword in _NUMBER_KEYWORDS},
            **{keyword: st.integers(0, 5) for keyword in _COUNT_KEYWORDS},
        },
    )


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(KEYS, inner, max_size=3)
    keywords = {
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), some),
        **dict.fromkeys(
            ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames"), inner
        ),
        **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), named),
        "required": st.lists(KEYS, max_size=2),
        "dependentRequired": st.dictionaries(KEYS, st.lists(KEYS, max_size=2), max_size=1),
        "type": st.sampled_from(["object", "array"]),
        "$ref": st.sampled_from(_REFS),
        "description": st.just("said"),
    }
    chosen = st.sets(st.sampled_from(sorted(keywords)), min_size=1, max_size=4)
    return chosen.flatmap(lambda keys: st.fixed_dictionaries({key: keywords[key] for key in sorted(keys)}))


def _root(parts: list[Any]) -> dict[str, Any]:
    body, a, b, c, anchored, named = parts
    root = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **(body if isinstance(body, dict) else {}),
    }
    properties = {**root.get("properties", {}), "a": named}
    anchor = {"$anchor": "anchor", **(anchored if isinstance(anchored, dict) else {})}
    return {**root, "properties": properties, "$defs": {"A": a, "B": b, "N": anchor}, "definitions": {"C": c}}


def _subschemas(depth: int) -> st.SearchStrategy[Any]:
    return st.booleans() | _leaves() | (_containers(_subschemas(depth - 1)) if depth else st.nothing())


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.lists(_subschemas(2), min_size=6, max_size=6).map(_root)
"""Any schema whose references are local: combinators, recursion, old forms, odd keys, booleans."""


def _object(named: dict[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    schema = {"type": "object", "properties": {key: pair[0] for key, pair in named.items()}}
    return schema, {key: pair[1] for key, pair in named.items()}


def _array(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return {"type": "array", "items": pair[0]}, [pair[1]]


def _pairs(depth: int) -> st.SearchStrategy[tuple[Any, Any]]:
    scalars = st.tuples(st.just({"type": "string"}), st.text(max_size=3)) | st.tuples(
        st.just({"type": "integer"}), st.integers(-(2**53), 2**53)
    )
    if depth == 0:
        return scalars
    inner = _pairs(depth - 1)
    return scalars | st.dictionaries(KEYS, inner, max_size=3).map(_object) | inner.map(_array)


CASES: st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]] = st.dictionaries(
    KEYS, _pairs(2), max_size=4
).map(_object)
"""A plain object schema, and arguments that fit it."""


def as_sent(schema: dict[str, Any], sent: dict[str, Any], value: Any) -> Any:
    """``value`` as a model writes it that was shown ``sent`` for ``schema``: integers come as floats."""
    if schema["type"] == "object":
        keys = dict(zip(schema["properties"], sent["properties"], strict=True))
        return {
            keys[key]: as_sent(schema["properties"][key], sent["properties"][keys[key]], inner)
            for key, inner in value.items()
        }
    if schema["type"] == "array":
        return [as_sent(schema["items"], sent["items"], entry) for entry in value]
    return float(value) if schema["type"] == "integer" else value
