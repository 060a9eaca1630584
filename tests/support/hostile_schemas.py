"""JSON Schemas whose use takes far longer than they are, each with a value to check."""

from __future__ import annotations

from typing import Any

__all__ = ["HOSTILE", "chained"]

Schema = dict[str, Any]
_LEVELS = 40


def chained(keyword: str, levels: int = _LEVELS, leaf: Schema | None = None) -> Schema:
    """``d0`` applies ``d1`` twice, ``d1`` applies ``d2`` twice, and so on: 2 ** ``levels`` leaves."""
    definitions: Schema = {}
    for level in range(levels):
        below = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = _twice(keyword, below)
    return {"$ref": "#/$defs/d0", "$defs": {**definitions, f"d{levels}": leaf or {"type": "integer"}}}


def _twice(keyword: str, below: Schema) -> Schema:
    if keyword in ("anyOf", "oneOf", "allOf"):
        return {keyword: [below, below]}
    if keyword == "if":
        return {"if": below, "then": below, "else": below}
    if keyword == "not":
        return {"not": below, "allOf": [below]}
    if keyword == "dependentSchemas":
        return {"dependentSchemas": {"a": below, "b": below}}
    if keyword == "patternProperties":
        return {"patternProperties": {"a": below, "a|b": below}}
    if keyword == "contains":
        return {"contains": below, "items": below}
    raise ValueError(keyword)


def _in_a_property(chain: Schema) -> Schema:
    return {"properties": {"a": {"$ref": chain["$ref"]}}, "$defs": chain["$defs"]}


def _nested(value: Any, wrap: str | None, levels: int) -> Any:
    for _ in range(levels):
        value = [value] if wrap is None else {wrap: value}
    return value


def _unevaluated(levels: int) -> Schema:
    schema: Schema = {"properties": {"a": True}, "unevaluatedProperties": False}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


def _dynamic() -> Schema:
    inner = {"$dynamicRef": "#node"}
    twice = {"anyOf": [{"properties": {"a": inner}}, {"properties": {"a": inner}}], "type": "object"}
    return {"$dynamicAnchor": "node", **twice}


def _recursive() -> Schema:
    node = {"$ref": "#/$defs/node"}
    branch = {"type": "object", "properties": {"a": node}, "required": ["a"]}
    return {"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [branch, branch, branch]}}}


def _spelled() -> Schema:
    """One large part under 4,000 spellings of its place."""
    part = {"properties": {f"p{n}": {"type": "string"} for n in range(4_000)}}
    spelled = [
        f"#/anyOf/{0:0{n % 5 + 1}}/anyOf/{0:0{n // 5 % 5 + 1}}/anyOf/{0:0{n // 25 % 5 + 1}}"
        for n in range(125)
    ]
    spelled = [each + f"/anyOf/{0:0{n % 6 + 1}}" for each in spelled for n in range(6)]
    whole = {"anyOf": [{"anyOf": [{"anyOf": [{"anyOf": [part]}]}]}]}
    return {**whole, "properties": {f"r{n}": {"$ref": each} for n, each in enumerate(spelled)}}


HOSTILE: dict[str, tuple[Schema, Any]] = {
    **{keyword: (chained(keyword), {}) for keyword in ("anyOf", "oneOf", "if", "not")},
    "allOf": (chained("allOf", leaf={"type": "object"}), {}),
    "dependentSchemas": (chained("dependentSchemas"), {"a": 1, "b": 1}),
    "patternProperties": (chained("patternProperties"), _nested(1, "a", _LEVELS)),
    "contains": (_in_a_property(chained("contains")), {"a": _nested(1, None, _LEVELS)}),
    "unevaluated": (_unevaluated(28), {}),
    "unevaluated chain": ({**chained("anyOf"), "unevaluatedProperties": False}, {"a": 1}),
    "in a property": (_in_a_property(chained("anyOf")), {"a": ""}),
    "dynamic": (_dynamic(), _nested(1, "a", _LEVELS)),
    "recursive": (_recursive(), _nested(1, "a", _LEVELS)),
    "itself": ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, {}),
    "spelled": (_spelled(), {}),
    "looking ahead": ({"properties": {"a": {"pattern": "(?=a)(a+)+b"}}}, {"a": "a" * 60_000}),
    "backtracking": ({"patternProperties": {"(?=a)(a+)+b": {"type": "integer"}}}, {"a" * 60_000: 1}),
    "unlike": ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"b": n} for n in range(20_000)]}),
    "options": (
        {"properties": {"a": {"items": {"enum": [{"b": n} for n in range(10_000)]}}}},
        {"a": [{"b": -1, "c": n} for n in range(10_000)]},
    ),
    "faults": (
        {"properties": {"a": {"items": {"oneOf": [{"required": [f"r{n}"]} for n in range(300)]}}}},
        {"a": [{}] * 3_000},
    ),
}
"""By what makes them costly: the schema of an object, and a value that shows it."""
