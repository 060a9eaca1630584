"""What tools and results look like on the wire, revision by revision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.calls.results import ToolResult
from toolspan_server.config import load_config
from toolspan_server.errors import ToolFailure
from toolspan_server.protocol.messages import wire
from toolspan_server.tools.registry import Registry

OLD = ("2024-11-05", "2025-03-26")
OBJECTS = ("2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
SCHEMA = {"type": "object", "properties": {"place": {"type": ["string", "null"], "default": None}}}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def success(value: Any) -> ToolResult:
    return ToolResult(success=True, tool_name="t", execution_time_ms=1.5, result=value)


def failure() -> ToolResult:
    return ToolResult.failed(ToolFailure("broken", error_code="odd", user_action="Mend it."), "t", 2.5)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    path = tmp_path / "toolspan.json"
    tools = [
        {
            "name": name,
            "description": f"Does {name}.",
            "parameters": SCHEMA,
            "implementation": {"type": "mock"},
        }
        for name in ("zebra", "ant", "moth")
    ]
    path.write_text(json.dumps({"tools": {"registry": tools}}))
    return Registry.from_config(load_config(path))


def test_a_tool_is_listed_with_its_schema_untouched(registry: Registry) -> None:
    tool = registry.get("ant")
    assert tool is not None
    assert wire.render_tool(tool) == {
        "name": "ant",
        "description": "Does ant.",
        "inputSchema": SCHEMA,
        "_meta": {"dev.toolspan/reach": "local"},
    }


@pytest.mark.requirement("I2.5.1")
@pytest.mark.parametrize(
    "params", [{"name": "t"}, {"name": "t", "arguments": None}, {"name": "t", "arguments": {}}]
)
def test_absent_arguments_are_an_empty_object(params: dict[str, Any]) -> None:
    assert wire.read_call(params) == ("t", {}, {})


@pytest.mark.requirement("I2.5.1", "I2.8.4")
@pytest.mark.parametrize("params", [{"name": "t", "arguments": bad} for bad in ([], "{}", 0, False, "")])
def test_arguments_that_are_no_object_are_invalid_params(params: dict[str, Any]) -> None:
    with pytest.raises(wire.ProtocolFault, match="'arguments' must be an object") as refused:
        wire.read_call(params)
    assert refused.value.code == -32602


def test_a_call_has_its_arguments_and_meta() -> None:
    params = {"name": "t", "arguments": {"a": None}, "_meta": {"progressToken": 1}}
    assert wire.read_call(params) == ("t", {"a": None}, {"progressToken": 1})
    assert wire.read_call({"name": "t", "_meta": 3}).meta == {}


@pytest.mark.parametrize("params", [None, {}, {"name": 3}, {"name": None, "arguments": {}}])
def test_a_call_without_a_name_is_invalid_params(params: dict[str, Any] | None) -> None:
    with pytest.raises(wire.ProtocolFault, match="'name' must be a string") as refused:
        wire.read_call(params)
    assert refused.value.code == -32602


@pytest.mark.requirement("I2.5.1")
def test_an_unknown_tool_is_named_even_when_the_name_is_no_text() -> None:
    assert wire.unknown_tool("x").message == "Tool 'x' not found"
    assert wire.unknown_tool("\ud800").message.encode() == rb"Tool '\ud800' not found"
    assert wire.unknown_tool("x").code == -32602


@pytest.mark.requirement("I2.5.1")
@given(value=json_values)
def test_the_text_of_a_success_is_compact_json_or_the_string_itself(value: Any) -> None:
    [block] = wire.render_result(success(value), MODERN)["content"]
    assert block["type"] == "text"
    if isinstance(value, str):
        assert block["text"] == value
    else:
        assert json.loads(block["text"]) == value
        assert block["text"] == json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.requirement("I2.5.1")
@pytest.mark.parametrize("version", OLD)
def test_the_oldest_revisions_have_no_structured_content(version: str) -> None:
    assert "structuredContent" not in wire.render_result(success({"a": 1}), version)
    assert "structuredContent" not in wire.render_result(failure(), version)


@pytest.mark.requirement("I2.5.1")
@pytest.mark.parametrize("version", OBJECTS)
@given(value=json_values)
def test_before_2026_structured_content_is_an_object(version: str, value: Any) -> None:
    structured = wire.render_result(success(value), version)["structuredContent"]
    assert structured == (value if isinstance(value, dict) else {"result": value})


@pytest.mark.requirement("I2.5.1")
@given(value=json_values)
def test_since_2026_structured_content_is_the_value_itself(value: Any) -> None:
    rendered = wire.render_result(success(value), MODERN)
    assert rendered["structuredContent"] == value
    assert rendered["resultType"] == "complete"


@pytest.mark.requirement("I2.5.1")
@pytest.mark.parametrize("version", [*OLD, *OBJECTS, MODERN])
def test_a_failure_carries_the_error_object_as_text_and_data(version: str) -> None:
    rendered = wire.render_result(failure(), version)
    error = {
        "success": False,
        "error": "broken",
        "error_code": "odd",
        "user_action": "Mend it.",
        "tool_name": "t",
        "execution_time_ms": 2.5,
    }
    assert rendered["isError"] is True
    assert json.loads(rendered["content"][0]["text"]) == error
    assert rendered.get("structuredContent", error) == error
    assert ("structuredContent" in rendered) == (version not in OLD)


@pytest.mark.requirement("I2.5.1")
@pytest.mark.parametrize("result", [success(1), failure()])
def test_the_time_is_in_the_meta_of_every_result(result: ToolResult) -> None:
    assert wire.render_result(result, "2025-11-25")["_meta"] == {
        "execution_time_ms": result.execution_time_ms
    }


@pytest.mark.requirement("I3.3.2")
@pytest.mark.parametrize("version", [*OLD, *OBJECTS, MODERN])
@given(value=json_values, more=st.none() | st.just({"io.modelcontextprotocol/serverInfo": {"name": "é"}}))
def test_an_encoded_result_is_the_rendered_one(version: str, value: Any, more: dict[str, Any] | None) -> None:
    for result in (success(value), failure()):
        expected = wire.render_result(result, version)
        expected["_meta"] |= more or {}
        stamp = "," + json.dumps(more)[1:-1] if more else ""
        assert json.loads(wire.encode_result(result, version, stamp)) == expected
