"""Arguments are checked, and their faults told, in bounded time, whatever the schema says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cost import at_most
from tests.support.executors import builtin, executor_of
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.parameters import Check, Parameters, ValueNames
from toolspan_server.errors import InvalidParameters

pytestmark = pytest.mark.requirement("I9.1.3")

UNITS = 300
"""Seconds of this thread's work; each of these took from 5 to 80 when every fault was collected first."""

Schema = dict[str, Any]


def form(index: int) -> Schema:
    properties = {f"k{index}": {"type": "string"}, "kind": {"const": f"v{index}"}}
    return {"type": "object", "properties": properties, "required": [f"k{index}", "kind"]}


def array_of(items: Schema, **more: Any) -> Schema:
    return {"type": "object", "properties": {"u": {"type": "array", "items": items}}, **more}


def faults(schema: Schema, arguments: Any) -> list[str]:
    """The faults of ``arguments``, found within the bound; empty when they are taken."""
    parameters = Parameters(schema)
    with at_most(units=UNITS):
        try:
            parameters.accept(arguments)
        except InvalidParameters as error:
            return list(error.faults)
    return []


OPTIONS = [f"o{index}" for index in range(5_000)]
FORMS = array_of({"oneOf": [form(index) for index in range(30)]})
MANY: list[tuple[Schema, Any, str]] = [
    (FORMS, [{}] * 9_000, "'u[0]' fits none of its forms (missing 'u[0].k0' and missing 'u[0].kind'; or"),
    (array_of({"enum": OPTIONS}), ["no"] * 9_000, "'u[0]' must be one of: o0,"),
    (array_of({"$ref": "#/$defs/a"}, **{"$defs": {"a": form(1)}}), [{}] * 9_000, "missing 'u[0].k1'"),
    (array_of({"allOf": [form(1), form(2)]}), [{}] * 9_000, "missing 'u[0].k1'"),
    (array_of({"additionalProperties": form(1)}), [{"a": {}}] * 4_000, "missing 'u[0].a.k1'"),
    (array_of({"type": "integer"}), ["1"] * 9_000, "'u[0]' must be an integer (got a string)"),
]


@pytest.mark.parametrize(("schema", "items", "first"), MANY)
def test_of_many_faults_the_first_are_told_and_that_there_are_more(
    schema: Schema, items: Any, first: str
) -> None:
    found = faults(schema, {"u": items})
    assert found[0].startswith(first)
    assert (len(found), found[-1]) == (21, "and more")


@pytest.mark.parametrize(("schema", "items", "first"), MANY)
def test_the_faults_are_told_as_those_of_few(schema: Schema, items: list[Any], first: str) -> None:
    assert set(faults(schema, {"u": items})[:2]) <= set(faults(schema, {"u": items[:2]}))


def test_the_one_fault_among_many_valid_items_is_found_wherever_it_is() -> None:
    items = [{"k7": "", "kind": "v7"}] * 3_000
    assert faults(FORMS, {"u": items}) == []
    (found,) = faults(FORMS, {"u": [*items, {"k7": 1, "kind": "v7"}]})
    assert found.startswith("'u[3000]' fits none of its forms")


def test_what_is_wrong_with_a_large_value_itself_is_told() -> None:
    schema = array_of({"minLength": 2}, required=["u", *(f"r{index}" for index in range(3_000))])
    schema |= {"additionalProperties": False}
    schema["properties"]["u"] |= {"maxItems": 100, "uniqueItems": True}
    found = faults(schema, {"u": ["a"] * 9_000, "other": 1})
    assert found[:2] == ["unknown parameter 'other'", "missing 'r0'"]
    assert faults(schema["properties"]["u"] | {"type": "object", "properties": {}}, {"u": 1}) == []
    inner = faults(array_of(form(1), maxProperties=0), {"u": [{"k1": "a", "kind": "v1"}] * 3_000})
    assert inner == ["the arguments together must have at most 0 fields"]


def test_a_large_value_that_only_a_choice_as_a_whole_refuses_is_told_as_such() -> None:
    whole = {"type": "object", "anyOf": [{"properties": {"u": {"maxItems": 1}}}, {"required": ["b"]}]}
    schema = {**whole, "properties": {"u": {"type": "array"}}}
    told = "the arguments together must fit the schema, and is too large to find out where it does not"
    assert faults(schema, {"u": [1] * 9_000}) == [told]


def test_a_wide_object_is_told_of_in_bounded_time() -> None:
    names = [f"p{index}" for index in range(3_000)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": [f"r{index}" for index in range(3_000)],
    }
    found = faults(schema, dict.fromkeys(names, "x"))
    assert (found[0], found[-1]) == ("missing 'r0'", "and more")


OBJECTS = [{"a": index} for index in range(5_000)]
COSTLY: list[tuple[Schema, Callable[[], Any]]] = [
    ({"type": "array", "items": {"enum": OBJECTS}}, lambda: [{"a": 4_999}] * 4_000),
    ({"not": {"pattern": "([a-z]{1,200}){1,100}y"}}, lambda: "x" * 100_000),
    ({"type": "array", "items": {"pattern": "^(?=(a+)+$)a"}}, lambda: ["a" * 100 + "b"] * 5_000),
    ({"patternProperties": {f"^q.*{i}": {} for i in range(300)}}, lambda: {str(i): i for i in range(9_000)}),
]


@pytest.mark.parametrize(("schema", "value"), COSTLY)
def test_what_would_take_too_long_to_check_is_refused_by_the_limits_name(
    schema: Schema, value: Callable[[], Any]
) -> None:
    (told,) = faults({"type": "object", "properties": {"u": schema}}, {"u": value()})
    assert told == "the arguments together would take more than the limit of 25,000,000 steps to check"


def test_patterns_cost_only_where_they_are_matched() -> None:
    name = {"type": "string", "pattern": r"^\w{1,64}$"}
    schema = {"type": "object", "properties": {"name": name, "text": {"type": "string"}}}
    assert faults(schema, {"name": "a", "text": "x" * 900_000}) == []
    password = {"type": "string", "pattern": r"^(?=.*[a-z])(?=.*\d).{8,64}$"}
    assert faults(array_of(password), {"u": ["secret42"] * 500}) == []
    assert faults(array_of({"enum": OBJECTS[:100]}), {"u": [{"a": 99}] * 3_000}) == []


@pytest.mark.anyio
async def test_results_are_held_to_their_schema_in_bounded_time() -> None:
    wanted = {"type": "object", "properties": {"echo": FORMS}}
    executor = executor_of(builtin("echo", output_schema=wanted))
    with at_most(units=UNITS):
        result = await executor.execute("echo", {"u": [{}] * 9_000}, LOCAL)
    assert result.error_code == "invalid_result", result
    assert result.error is not None
    assert result.error.endswith("and more")


def test_an_answer_of_a_client_is_held_to_its_question_in_bounded_time() -> None:
    check = Check(FORMS, ValueNames("the content", "field"))
    with at_most(units=UNITS):
        assert len(check.faults({"u": [{}] * 9_000})) == 21
