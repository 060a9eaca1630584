"""JSON Schemas of clients, models' answers and foreign servers: whatever they say, using one ends soon."""

from __future__ import annotations

import ast
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.cost import at_most
from tests.support.hostile_schemas import HOSTILE, chained
from toolspan_bridge.errors import UsageError
from toolspan_bridge.formats.gemini import plan as gemini
from toolspan_bridge.formats.ollama import render as ollama
from toolspan_bridge.formats.openai import render as openai
from toolspan_bridge.formats.shared.claude import tools
from toolspan_bridge.formats.shared.schemas import (
    ANTHROPIC_STRICT,
    OPENAI_STRICT,
    Unrenderable,
    compile_schema,
    restore_arguments,
    strict_or_not,
)
from toolspan_bridge.loop._answer_schema import AnswerSchema
from toolspan_bridge.loop._arguments import Checker
from toolspan_bridge.messages import ToolSpec
from toolspan_server.engines.parameters import Check, TooExpensive
from toolspan_server.engines.parameters import compile_schema as compile_validator
from toolspan_server.engines.parameters._safe_schema import object_schema
from toolspan_server.problems import Faulty

pytestmark = pytest.mark.requirement("I24.5.1")

ROOT = Path(__file__).parents[3]
PLANS = [tools.PLAN, gemini.PLAN, ollama.PLAN, openai.PLAN, ANTHROPIC_STRICT.plan, OPENAI_STRICT.plan]
EACH = pytest.mark.parametrize("name", HOSTILE)


def hostile(name: str) -> tuple[dict[str, Any], Any]:
    schema, value = HOSTILE[name]
    return {"type": "object", **schema}, value


@EACH
def test_an_answer_is_checked_or_its_schema_refused(name: str) -> None:
    schema, value = hostile(name)
    with at_most(units=500):
        try:
            AnswerSchema(schema).check(json.dumps(value))
        except UsageError as error:
            assert "too expensive" in str(error)


@EACH
def test_arguments_are_checked_or_left_to_the_server(name: str) -> None:
    schema, value = hostile(name)
    with at_most(units=500):
        Checker().faults(ToolSpec("s", "t", "", schema), value)


@EACH
@pytest.mark.parametrize("plan", range(len(PLANS)))
def test_a_schema_is_converted_and_its_arguments_converted_back(name: str, plan: int) -> None:
    schema, value = hostile(name)
    with at_most(units=500):
        with suppress(Unrenderable):
            compile_schema(schema, PLANS[plan])
        for arguments in (value, {"input": json.dumps(value)}, {"a": None}):
            restore_arguments(schema, arguments, PLANS[plan])


@EACH
def test_strict_mode_is_taken_or_not(name: str) -> None:
    tool = ToolSpec("s", "t", "", hostile(name)[0], strict=True)
    with at_most(units=500):
        for strict, plan in ((OPENAI_STRICT, openai.PLAN), (ANTHROPIC_STRICT, tools.PLAN)):
            with suppress(Unrenderable):
                strict_or_not(tool, strict, plan)


@EACH
def test_a_servers_own_schema_is_refused_or_checked(name: str) -> None:
    schema, value = hostile(name)
    with at_most(units=500), suppress(Faulty, TooExpensive):
        Check(object_schema(schema)).faults(value)


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf", "if", "not", "dependentSchemas"])
def test_what_grows_without_bound_at_one_value_is_refused_before_it_is_compiled(keyword: str) -> None:
    with pytest.raises(UsageError, match=r"5,000 schemas apply to one value|in a row"):
        AnswerSchema(chained(keyword))
    assert AnswerSchema(chained(keyword, levels=3)).check("1").value == 1


@pytest.mark.parametrize("keyword", ["patternProperties", "contains"])
def test_what_grows_from_level_to_level_is_refused_with_the_value_that_is_deep(keyword: str) -> None:
    schema, value = HOSTILE[keyword]
    told = AnswerSchema(schema).check(json.dumps(value))
    assert told.faults == ("the answer would take more than the limit of 25,000,000 steps to check",)
    assert AnswerSchema(schema).check("1").faults == ()


def test_a_chain_that_would_overflow_the_validators_stack_is_refused() -> None:
    row: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(30_000)}
    with at_most(units=500), pytest.raises(TooExpensive):
        compile_validator({"$ref": "#/$defs/d0", "$defs": {**row, "d30000": {}}})
    row = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(300)}
    with pytest.raises(TooExpensive, match="more than 200 schemas in a row"):
        compile_validator({"$ref": "#/$defs/d0", "$defs": {**row, "d300": {}}})


def test_a_reference_out_of_the_schema_is_refused_and_never_fetched() -> None:
    for reference in ("https://example.com/s", "#/nowhere", "other#/$defs/a"):
        with pytest.raises(UsageError, match="does not refer to a schema in this one"):
            AnswerSchema({"$ref": reference})
    inside = {"$defs": {"a": {"$id": "https://example.com/a"}}, "$ref": "#/$defs/a"}
    with pytest.raises(UsageError, match="does not refer to a schema in this one"):
        AnswerSchema(inside)


def test_schemas_as_people_write_them_still_check_answers() -> None:
    node = {"$ref": "#/$defs/node"}
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, "children": {"type": "array", "items": node}},
            "required": ["kind"],
            "additionalProperties": False,
        }
        for kind in ("row", "column", "list", "table", "text")
    ]
    page = AnswerSchema({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": kinds}}})
    tree: Any = {"kind": "text"}
    for kind in ("list", "row", "column", "table", "row", "column"):
        tree = {"kind": kind, "children": [tree, {"kind": "text"}, tree]}
    assert page.check(json.dumps(tree)).faults == ()
    broken = json.dumps(tree).replace('"text"', '"texts"')
    assert page.check(broken).faults != ()
    for _ in range(16):
        tree = {"kind": "row", "children": [tree]}
    assert page.check(json.dumps(tree)).faults == ()
    assert page.check(json.dumps(tree).replace('"text"', '"texts"')).faults != ()
    older = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "integer"}},
        "items": [{"$ref": "#/definitions/a"}],
        "additionalItems": False,
    }
    assert AnswerSchema(older).check("[1]").faults == ()
    assert len(AnswerSchema(older).check("[1, 2]").faults) == 1
    rows: dict[str, Any] = {
        "type": "array",
        "items": {"type": "object", "properties": {f"c{n}": {} for n in range(40)}},
    }
    assert AnswerSchema(rows).check(json.dumps([{f"c{n}": n for n in range(40)}] * 3_000)).faults == ()


def test_every_other_validator_in_the_sources_has_its_reason() -> None:
    """A new place that makes one by itself has no bound: ``engines.parameters`` has them."""
    found: dict[str, int] = {}
    for path in sorted([*(ROOT / "server").rglob("*.py"), *(ROOT / "bridge").rglob("*.py")]):
        names = [
            ast.unparse(node.func)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
        ]
        made = [name for name in names if name.rpartition(".")[2] in _MAKERS]
        if made:
            found[str(path.relative_to(ROOT)).partition("/")[2]] = len(made)
    assert set(found) == set(_MADE_ELSEWHERE)


_MAKERS = {"validator_for", "validator_map_for", "Draft202012Validator", "is_valid_schema", "validate_schema"}
_MADE_ELSEWHERE = {
    "toolspan_server/engines/parameters/_compile.py": "where they are bounded",
    "toolspan_server/engines/parameters/_safe_schema.py": "the schema of schemas, which is ours",
    "toolspan_bridge/client/fields.py": "of the keywords of forms alone: no references, no choices",
}
