"""Whatever schema a server sends: what goes out obeys the provider, and arguments find their way back."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support import schemas
from tests.support.compiled import sent_schema
from tests.support.fitting import FITTING
from tests.support.scenarios.shown import as_shown
from toolspan_bridge.formats import format_names, get_format
from toolspan_bridge.formats.names import NameTable
from toolspan_bridge.messages import Request, ToolSpec, User

pytestmark = [pytest.mark.long, pytest.mark.requirement("I2.6.2")]

FORMATS = pytest.mark.parametrize("name", format_names())
THOROUGH = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pointed_at(schema: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        schema = schema[int(step) if isinstance(schema, list) else step]
    return schema


@FORMATS
@THOROUGH
@given(schema=schemas.SCHEMAS)
def test_every_schema_is_sent_by_the_rules_or_left_out_with_a_reason(
    name: str, schema: dict[str, Any]
) -> None:
    module = get_format(name)
    tool = ToolSpec("s", "t", "d", schema)
    body = module.render_request(Request("m", (User("hi"),), tools=(tool,)), NameTable.of([tool]))
    import_module(f"tests.support.provider_rules.{name.replace('-', '_')}").check_request(body)
    reasons = [loss.repair for loss in module.losses([tool]) if loss.repair.startswith("tool left out")]
    assert (sent_schema(body) is None) == bool(reasons)


@FORMATS
@THOROUGH
@given(schema=schemas.SCHEMAS)
def test_losses_point_into_the_schema_that_the_server_sent(name: str, schema: dict[str, Any]) -> None:
    for loss in get_format(name).losses([ToolSpec("s", "t", "d", schema)]):
        assert loss.tool == "s__t" and loss.rule and loss.repair
        pointed_at(schema, loss.pointer)


@FORMATS
@THOROUGH
@given(schema=schemas.SCHEMAS)
def test_the_same_schema_is_sent_the_same_way_each_time(name: str, schema: dict[str, Any]) -> None:
    module, tool = get_format(name), ToolSpec("s", "t", "d", schema)
    names = NameTable.of([tool])
    before = repr(schema)
    assert repr(module.render_tools([tool], names)) == repr(module.render_tools([tool], names))
    assert repr(schema) == before


@FORMATS
@THOROUGH
@given(case=schemas.CASES)
def test_arguments_come_back_in_the_schemas_own_words(
    name: str, case: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    schema, arguments = case
    module, tool = get_format(name), ToolSpec("s", "t", "d", schema)
    sent = sent_schema(module.render_tools([tool], NameTable.of([tool])))
    restored = module.restore(tool, schemas.as_sent(schema, sent, arguments))
    assert restored == arguments
    assert repr(restored) == repr(arguments)


@FORMATS
@THOROUGH
@given(case=schemas.CASES)
def test_arguments_in_a_wrapper_come_back_too(name: str, case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, arguments = case
    combined = {**schema, "anyOf": [{"type": "object"}]}
    module, tool = get_format(name), ToolSpec("s", "t", "d", combined)
    sent = sent_schema(module.render_tools([tool], NameTable.of([tool])))
    inner = schemas.as_sent(schema, sent["properties"]["input"], arguments)
    assert module.restore(tool, {"input": inner}) == arguments


@pytest.mark.requirement("I5.4.3")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=FITTING)
def test_whatever_fits_a_schema_fits_what_is_sent_and_comes_back_as_it_was(
    case: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, arguments = case
    assert jsonschema_rs.is_valid(schema, arguments)
    for name, strict in product(format_names(), (False, True)):
        tool = ToolSpec("s", "t", "d", schema, strict=strict)
        check_there_and_back(name, tool, arguments)


def check_there_and_back(name: str, tool: ToolSpec, arguments: dict[str, Any]) -> None:
    module, names = get_format(name), NameTable.of([tool])
    body = module.render_request(Request("m", (User("hi"),), tools=(tool,)), names)
    import_module(f"tests.support.provider_rules.{name.replace('-', '_')}").check_request(body)
    sent = sent_schema(module.render_tools([tool], names))
    written = as_shown(tool.schema, sent, arguments)
    errors = jsonschema_rs.validator_for(sent).iter_errors(written)
    assert [error.message for error in errors] == [], name
    restored = module.restore(tool, written)
    assert restored == arguments, name
