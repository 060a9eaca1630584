"""Hypothesis strategies for JSON Schemas 2020-12 of every sort, each with a value that fits it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.support.schemas import KEYS

Pair = tuple[dict[str, Any], Any]
"""A schema, and a value that fits it."""

_TEXT = st.text(st.characters(codec="utf-8"), max_size=4)
_MAX_DEPTH = 2


def _scalars() -> st.SearchStrategy[Pair]:
    whole = st.integers(-(2**53), 2**53)
    return st.one_of(
        _TEXT.map(lambda v: ({"type": "string", "minLength": 0, "default": "x"}, v)),
        whole.map(lambda v: ({"type": "integer"}, v)),
        st.integers(1, 9).map(lambda v: ({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}, v)),
        st.integers(-64, 64).map(lambda v: ({"type": "number", "minimum": -99}, v / 4)),
        st.booleans().map(lambda v: ({"type": "boolean"}, v)),
        st.sampled_from(["a", "b"]).map(lambda v: ({"enum": ["a", "b"]}, v)),
        st.sampled_from([1, 2, "x"]).map(lambda v: ({"enum": [1, 2, "x"]}, v)),
        st.sampled_from(["only", 7, True]).map(lambda v: ({"const": v}, v)),
        (st.none() | _TEXT).map(lambda v: ({"type": ["string", "null"]}, v)),
        st.just(({"type": "string", "format": "date"}, "2026-11-22")),
        st.just(({"type": "string", "pattern": "^a+$", "maxLength": 5}, "aaa")),
    )


@st.composite
def _objects(draw: st.DrawFn, depth: int) -> Pair:
    named = draw(st.dictionaries(KEYS, _pairs(depth), max_size=3))
    there = [key for key in named if draw(st.booleans())]
    schema: dict[str, Any] = {"type": "object", "properties": {key: pair[0] for key, pair in named.items()}}
    required = [key for key in there if draw(st.booleans())]
    schema |= {"required": required} if required else {}
    schema |= {"additionalProperties": False} if draw(st.booleans()) else {}
    return schema, {key: named[key][1] for key in there}


def _maps(depth: int) -> st.SearchStrategy[Pair]:
    keys = st.sampled_from(["k1", "k 2", "å"])
    return st.tuples(_pairs(depth), st.lists(keys, max_size=2, unique=True)).map(
        lambda made: (
            {"type": "object", "additionalProperties": made[0][0]},
            dict.fromkeys(made[1], made[0][1]),
        )
    )


def _lists(depth: int) -> st.SearchStrategy[Pair]:
    several = st.tuples(_pairs(depth), st.integers(0, 2)).map(
        lambda made: ({"type": "array", "items": made[0][0], "maxItems": 5}, [made[0][1]] * made[1])
    )
    fixed = st.lists(_pairs(0), min_size=1, max_size=2).map(
        lambda pairs: (
            {"type": "array", "prefixItems": [pair[0] for pair in pairs]},
            [pair[1] for pair in pairs],
        )
    )
    return several | fixed


@st.composite
def _combined(draw: st.DrawFn, depth: int) -> Pair:
    """In a choice beside something that the value is not, or as one thing said in two places."""
    schema, value = draw(_pairs(depth))
    how = draw(st.sampled_from(["anyOf", "oneOf", "allOf"]))
    if how == "allOf":
        return {"allOf": [schema, {"description": "said"}]}, value
    other = {"type": "string", "const": "something else"} if value is None else {"type": "null"}
    branches = [schema, other] if draw(st.booleans()) else [other, schema]
    return {how: branches}, value


def _pairs(depth: int) -> st.SearchStrategy[Pair]:
    if depth == 0:
        return _scalars()
    inner = depth - 1
    return st.one_of(_scalars(), _objects(inner), _maps(inner), _lists(inner), _combined(inner))


@st.composite
def _roots(draw: st.DrawFn) -> Pair:
    """An object with one property more, behind a reference, and at times a choice at the root."""
    schema, value = draw(_objects(_MAX_DEPTH))
    aside, kept = draw(_pairs(1))
    referred = {"$ref": "#/$defs/Aside"} | ({"description": "beside"} if draw(st.booleans()) else {})
    schema["properties"]["referred"] = referred
    schema["$defs"] = {"Aside": aside}
    value = {**value, "referred": kept}
    if draw(st.booleans()):
        schema["anyOf"] = [{"required": ["referred"]}, {"required": ["nothing"]}]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, value


FITTING: st.SearchStrategy[Pair] = _roots()
"""The schema of a tool's arguments, and arguments that fit."""
