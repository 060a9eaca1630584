"""Whatever the schema: expected arguments fit it, and the query says them."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fitting import FITTING
from toolspan_bridge.validation.generation import Subject, generate
from toolspan_bridge.validation.generation.rewriting import missing

NAMES = ["city", "start_date", "maxResults", "email", "file path", "amount", "q", "a", "país", "tags", "x.y"]


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas of every sort, their arguments named as people name them, some of them required."""
    schema, _ = draw(FITTING)
    properties = schema["properties"]
    named = dict(zip(draw(st.permutations(NAMES)), properties.values(), strict=False))
    required = [name for name in named if draw(st.booleans())]
    return {**schema, "properties": named, "required": required, "anyOf": [True]}


@pytest.mark.long
@pytest.mark.requirement("I14.1.62")
@settings(max_examples=60)
@given(schema=schemas(), seed=st.integers(0, 99))
def test_expected_arguments_fit_the_schema_and_are_said(schema: Any, seed: int) -> None:
    generated = generate([Subject("update_order", "Update an order in the shop", schema)], seed)
    for draft in generated.drafts:
        assert not missing(draft.query, draft.said), draft.query
        for call in draft.expect.get("calls", ()):
            given = {name: plain(value) for name, value in call.get("arguments", {}).items()}
            assert jsonschema_rs.is_valid(schema, given, validate_formats=True), given
            assert set(schema["required"]) <= set(given)


def plain(expected: Any) -> Any:
    is_form = isinstance(expected, dict) and len(expected) == 1
    return (
        next(iter(expected.values()))
        if is_form and set(expected) <= {"contains", "text", "equals"}
        else expected
    )
