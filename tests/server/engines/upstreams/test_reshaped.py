"""A schema of arguments without those that are pinned or hidden."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.parameters import Parameters
from toolspan_server.tools.sources._mcp_config import ToolOverride
from toolspan_server.tools.sources._parameters import reshaped

pytestmark = pytest.mark.requirement("I4.2.4")

NAMES = st.sampled_from(["a", "b", "c", "d"])
PARTS = st.sampled_from([{"type": "string"}, {"type": "integer", "default": 3}, {}, {"enum": [1, 2]}])
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(NAMES, PARTS),
        "required": st.lists(NAMES, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, unique=True)),
    },
)
SCHEMAS = st.builds(
    lambda base, key, parts: {**base, **({key: parts} if parts else {})},
    OBJECTS,
    st.sampled_from(["allOf", "anyOf", "oneOf"]),
    st.lists(OBJECTS, max_size=2),
)


@given(SCHEMAS, st.sets(NAMES), st.sets(NAMES))
def test_what_is_pinned_or_hidden_is_neither_offered_nor_required(
    schema: dict[str, Any], pinned: set[str], hidden: set[str]
) -> None:
    before = repr(schema)
    change = ToolOverride(pin=dict.fromkeys(pinned, 1), hide=tuple(hidden - pinned))
    found = reshaped(schema, change)
    assert repr(schema) == before
    branches = [part for key in ("allOf", "anyOf", "oneOf") for part in found.schema.get(key, ())]
    for part in (found.schema, *branches):
        assert not (pinned | hidden) & set(part.get("properties", {}))
        assert not (pinned | hidden) & set(part.get("required", ()))
    assert found.pin.keys() >= pinned


def test_a_hidden_argument_has_its_default() -> None:
    schema = {"type": "object", "properties": {"limit": {"default": 10}, "page": {}}, "required": ["limit"]}
    found = reshaped(schema, ToolOverride(hide=("limit", "page")))
    assert (found.pin, found.fault) == ({"limit": 10}, "")
    assert found.schema == {"type": "object", "properties": {}}


def test_a_schema_that_names_no_argument_takes_any() -> None:
    schema = reshaped({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}, None).schema
    assert Parameters(schema).accept({"x": 1}) == {"x": 1}
    named = reshaped({"type": "object", "properties": {"y": {}}}, None).schema
    assert Parameters(named).accept({"x": 1, "y": 2}) == {"y": 2}
