"""What a tool may say of itself in the config, what clients hear of it, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from mcp_types import Tool as McpTool

from tests.support.executors import registry_of, tool
from toolspan_server import Config, ConfigError, load_config
from toolspan_server.config.published_schema import config_schema
from toolspan_server.protocol.messages.wire import render_tool

pytestmark = pytest.mark.requirement("I4.2.1", "I4.4.1")

PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
MOCK = {"type": "mock", "mock_response": {"a": 1}}
WHOLE: dict[str, Any] = {
    "title": "A tool",
    "display_name": "An older name",
    "icons": [
        {"src": "https://example.com/a.svg", "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "dark"},
        {"src": "data:image/png;base64,aGk=", "mime_type": "image/png", "sizes": ["48x48"]},
    ],
    "annotations": {
        "title": "T",
        "read_only": True,
        "destructive": False,
        "idempotent": True,
        "open_world": False,
    },
    "output_schema": PARAMETERS,
    "tags": ["one", "two"],
    "category": "things",
    "version": "1.2.0",
    "deprecated": {"message": "It is slow.", "replacement": "new"},
    "cache": {"ttl_ms": 1_000, "max_entries": 5},
    "rate_limit": {"calls": 5, "per_ms": 1_000, "burst": 10},
    "approval": {"message": "Do {{ a }}?", "timeout_ms": 5_000},
    "examples": [
        {"arguments": {"a": 1}, "result": {"a": 1}, "description": "One"},
        {"arguments": {}, "error": "invalid_parameters"},
        {"arguments": {"a": 2}, "result_matches": {}},
    ],
}


def rendered(**more: Any) -> dict[str, Any]:
    [found] = registry_of(tool("x", MOCK, PARAMETERS, **more))
    return render_tool(found)


def test_clients_are_told_what_mcp_has_a_place_for_there_and_the_rest_in_meta() -> None:
    entry = rendered(**WHOLE)
    assert entry == {
        "name": "x",
        "title": "A tool",
        "description": "The tool x.\n\nDeprecated. Use 'new' instead. It is slow.",
        "inputSchema": PARAMETERS,
        "outputSchema": PARAMETERS,
        "icons": [
            {
                "src": "https://example.com/a.svg",
                "mimeType": "image/svg+xml",
                "sizes": ("any",),
                "theme": "dark",
            },
            {"src": "data:image/png;base64,aGk=", "mimeType": "image/png", "sizes": ("48x48",)},
        ],
        "annotations": {
            "title": "T",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        "_meta": {
            "dev.toolspan/display_name": "An older name",
            "dev.toolspan/category": "things",
            "dev.toolspan/tags": ("one", "two"),
            "dev.toolspan/version": "1.2.0",
            "dev.toolspan/approval": True,
            "dev.toolspan/deprecated": {"message": "It is slow.", "replacement": "new"},
            "dev.toolspan/examples": WHOLE["examples"],
            "dev.toolspan/reach": "local",
        },
    }
    read = McpTool.model_validate(entry)
    assert read.model_dump(mode="json", by_alias=True, exclude_none=True)["icons"][1]["sizes"] == ["48x48"]


def test_a_plain_tool_is_listed_with_name_description_parameters_and_how_far_its_calls_reach() -> None:
    local = {"dev.toolspan/reach": "local"}
    assert set(rendered()) == {"name", "description", "inputSchema", "_meta"}
    assert rendered()["_meta"] == rendered(deprecated=False, approval=False)["_meta"] == local
    assert rendered(deprecated=True)["_meta"] == {"dev.toolspan/deprecated": True, **local}
    assert rendered(display_name="Shown")["title"] == "Shown"


def test_annotations_may_be_written_as_mcp_writes_them() -> None:
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    assert rendered(annotations=hints)["annotations"] == hints


def test_the_published_schema_takes_them_all() -> None:
    validator = jsonschema_rs.validator_for(
        {**config_schema()["$defs"]["ToolConfig"], "$defs": config_schema()["$defs"]}
    )
    whole = {**WHOLE, "icons": WHOLE["icons"][:1]}
    for given in (whole, {**whole, "approval": True, "deprecated": False}):
        errors = [e for e in validator.iter_errors(tool("x", MOCK, PARAMETERS, **given)) if e.instance_path]
        assert [e.message for e in errors if e.instance_path[0] in WHOLE] == []


FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"cache": {"ttl_ms": 5}}, "cache", "only a tool that is read-only can have a cache"),
    (
        {"cache": {"ttl_ms": 5}, "annotations": {"read_only": False}},
        "cache",
        "only a tool that is read-only can have a cache",
    ),
    ({"examples": [{"arguments": {"a": "x"}}]}, "examples[0].arguments", "'a' must be an integer"),
    (
        {"examples": [{"arguments": {"a": 1}, "result": 1, "error": "e"}]},
        "examples[0].result",
        "is there too",
    ),
    ({"icons": [{"src": "http://example.com/a.png"}]}, "icons[0].src", "is no icon"),
    ({"icons": [{"src": "javascript:alert(1)"}]}, "icons[0].src", "is no icon"),
    ({"icons": [{"src": "https://e.x/a", "sizes": ["big"]}]}, "icons[0].sizes[0]", "does not match"),
    ({"output_schema": {"type": "array"}}, "output_schema.type", "the schema of the result must have type"),
    (
        {"output_schema": {"type": "object", "$ref": "https://example.com/s"}},
        "output_schema.$ref",
        "nothing is fetched",
    ),
    ({"deprecated": {"replacement": "gone"}}, "deprecated.replacement", "unknown tool 'gone'"),
    ({"deprecated": "yes"}, "deprecated", "must be an object, not 'yes'"),
    ({"annotations": {"readonly": True}}, "annotations.readonly", "did you mean 'read_only'?"),
    ({"approval": {"message": "Do {{ a"}}, "approval.message", "'{{' is not closed"),
    ({"rate_limit": {"calls": 0}}, "rate_limit.calls", "must be an integer of at least 1"),
    ({"rate_limit": {}}, "rate_limit", "'calls' is missing"),
]


@pytest.mark.parametrize(("more", "path", "told"), FAULTS)
def test_what_cannot_be_is_a_fault_at_its_place(
    tmp_path: Path, more: dict[str, Any], path: str, told: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(yaml.safe_dump({"tools": {"registry": [tool("x", MOCK, PARAMETERS, **more)]}}))
    with pytest.raises(ConfigError) as raised:
        load_config(file)
    [problem] = raised.value.problems
    assert problem.path == f"$.tools.registry[0].{path}"
    assert told in str(problem)


def test_what_clients_read_is_no_secret_when_a_variable_gave_it(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(
        yaml.safe_dump({"tools": {"registry": [tool("x", MOCK, title="${TITLE}", category="${TITLE}")]}})
    )
    config = load_config(file, environ={"TITLE": "Weather"})
    assert config.redact("Weather") == "Weather"


def test_numbers_may_come_from_variables(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    limit = {"calls": "${CALLS}", "per_ms": "${PER}"}
    file.write_text(yaml.safe_dump({"tools": {"registry": [tool("x", MOCK, rate_limit=limit)]}}))
    [read] = load_config(file, environ={"CALLS": "5", "PER": "1000"}).tools.registry
    assert read.rate_limit is not None
    assert (read.rate_limit.calls, read.rate_limit.per_ms) == (5, 1_000)


def test_a_config_made_in_code_takes_the_same() -> None:
    config = Config.model_validate({"tools": {"registry": [tool("x", MOCK, PARAMETERS, **WHOLE)]}})
    assert [example.expected for example in config.tools.registry[0].examples] == [
        "result",
        "error",
        "result_matches",
    ]
