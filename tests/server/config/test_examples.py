"""The files in ``configs/``, the seeds' examples among them, and the published JSON Schema."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

from toolspan_server.calls.caller import LOCAL
from toolspan_server.config import load_config
from toolspan_server.config.published_schema import config_schema, config_schema_text
from toolspan_server.engines.registration import find_handler, handler_names
from toolspan_server.live.runtime import running
from toolspan_server.parts.kind import KINDS

CONFIGS = Path(__file__).parents[3] / "configs"
SCHEMA = CONFIGS / "toolspan.schema.json"
FILES = sorted(
    path for path in CONFIGS.iterdir() if path.is_file() and not path.name.endswith(".schema.json")
)


def data_of(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def is_valid(data: Any) -> bool:
    return Draft202012Validator(config_schema(), validate_formats=True, offline=True).is_valid(data)


def tool(**changes: Any) -> dict[str, Any]:
    return {"name": "a", "description": "b", "implementation": {"type": "mock"}, **changes}


@pytest.mark.requirement("I2.2.4")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_example_loads_without_any_variable_set(path: Path) -> None:
    config = load_config(path, environ={})
    tools = config.tools.registry or config.tools.sources or config.mcp_servers
    assert tools or config.resources or config.prompts or config.skills


@pytest.mark.requirement("I2.2.1")
def test_the_three_tool_registry_of_the_seed_loads_unchanged() -> None:
    tools = load_config(CONFIGS / "three-tools.json", environ={}).tools
    assert (tools.enabled, tools.max_iterations, tools.default_timeout_ms) == (True, 5, 30_000)
    assert [(tool.name, tool.type, tool.handler, tool.implementation.type) for tool in tools.registry] == [
        ("get_weather", "function", "weather", "mock"),
        ("calculate", "function", "calculator", "builtin"),
        ("search_documents", "function", "rag_search", "internal"),
    ]
    weather: Any = tools.registry[0].implementation
    assert weather.mock_response == {"temperature": 22, "condition": "sunny", "humidity": 65}
    assert tools.registry[2].parameters["properties"]["max_results"] == {"type": "integer", "default": 5}


@pytest.mark.requirement("I2.2.1")
def test_the_weather_assistant_of_the_seed_loads_unchanged() -> None:
    config = load_config(CONFIGS / "weather-assistant.json", environ={})
    (rule,) = config.responses
    assert (rule.match.intent_regexp, rule.llm, rule.model) == ("/(weather|forecast)/", "openai", "gpt-4o")
    assert rule.prompt == "You are a weather assistant.\n\nUser: {{user_message}}"
    assert rule.tools is not None and rule.tools.allowed_tools == ("get_weather",)
    assert config.tools.max_iterations == 3


@pytest.mark.requirement("I2.2.1")
def test_the_documentation_assistant_of_the_seed_loads_unchanged() -> None:
    config = load_config(CONFIGS / "documentation-assistant.json", environ={})
    (rule,) = config.responses
    assert (rule.match.service, rule.model) == ("technical_docs", "llama3.2:3b")
    assert rule.tools is not None and rule.tools.max_iterations == 2
    implementation: Any = config.tools.registry[0].implementation
    assert (implementation.type, implementation.handler) == ("internal", "rag_query")


@pytest.mark.requirement("I2.2.4")
def test_the_published_schema_is_fresh() -> None:
    assert SCHEMA.read_text("utf-8") == config_schema_text(), "run `make reference`"


@pytest.mark.requirement("I2.2.4")
def test_the_module_prints_the_schema() -> None:
    done = subprocess.run([sys.executable, "-m", "toolspan_server.config"], capture_output=True, check=True)
    assert json.loads(done.stdout) == config_schema()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_example_is_valid_by_the_published_schema(path: Path) -> None:
    assert is_valid(data_of(path))


@pytest.mark.parametrize(
    "data",
    [
        {"toolz": {}},
        {"tools": {"registry": [tool(implementation={"type": "mok"})]}},
        {"tools": {"registry": [tool(implementation={"mock_response": 1})]}},
        {"tools": {"registry": [tool(implementation={"type": "builtin"})]}},
        {"tools": {"registry": [tool(implementation={"type": "mock", "handler": "x"})]}},
        {"tools": {"registry": [tool(parameters={"type": "array"})]}},
        {"tools": {"registry": [tool(name="a b")]}},
        {"tools": {"max_iterations": 1001}},
        {"mcpServers": {"a": {}}},
        {"mcp_servers": {"a": {"command": "b", "url": "http://c"}}},
    ],
)
def test_the_published_schema_refuses_what_loading_refuses(data: Any) -> None:
    assert not is_valid(data)


def test_the_published_schema_takes_references_for_numbers() -> None:
    assert is_valid({"tools": {"max_iterations": "${N:-5}", "enabled": "${ON}"}})
    assert not is_valid({"tools": {"max_iterations": "5"}})


@pytest.mark.requirement("I2.2.4")
def test_the_published_schema_takes_every_name_that_loading_takes() -> None:
    provider = {"issuer": "https://id.example"}
    for name in ("client_id", "clientId"):
        oauth = {"identity_provider": {**provider, name: "a"}}
        assert is_valid({"mcpServers": {"x": {"serverUrl": "https://x.example/", "oauth": oauth}}})
    assert not is_valid({"mcpServers": {"x": {"url": "a:b", "oauth": {"identityProvider": provider}}}})
    for name in ("read_only", "readOnlyHint", "read_only_hint"):
        assert is_valid({"tools": {"registry": [tool(annotations={name: True})]}})
    assert not is_valid({"tools": {"registry": [tool(annotations={"readOnlyHint": 3})]}})


def test_the_published_schema_tells_every_kind_apart_by_type() -> None:
    implementation = config_schema()["$defs"]["Implementation"]
    assert sorted(implementation["discriminator"]["mapping"]) == list(KINDS.names)
    assert len(implementation["oneOf"]) == len(KINDS.names)


def described(schema: Any) -> list[tuple[str, Any]]:
    if isinstance(schema, list):
        return [found for part in schema for found in described(part)]
    if not isinstance(schema, dict):
        return []
    own = list(schema["properties"].items()) if isinstance(schema.get("properties"), dict) else []
    return own + [found for part in schema.values() for found in described(part)]


def test_every_key_of_the_published_schema_is_described_or_refers_to_what_is() -> None:
    definitions = {
        name: part for name, part in config_schema()["$defs"].items() if not name.endswith("_implementation")
    }
    bare = [
        key
        for key, value in described([config_schema()["properties"], definitions])
        if "description" not in value and "$ref" not in value and "const" not in value
    ]
    assert bare == []


def test_every_reference_in_the_published_schema_leads_somewhere() -> None:
    schema = config_schema()
    names = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)))
    assert names == set(schema["$defs"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("calculate", {"expression": "2+2"}, {"result": 4}),
        ("echo", {"any": ["thing"]}, {"echo": {"any": ["thing"]}}),
        ("current_time", {"timezone": "Europe/Paris"}, {"timezone": "Europe/Paris"}),
        ("parse_time", {"text": "29 March 2026"}, {"date": "2026-03-29", "weekday": "Sunday"}),
        ("add_to_time", {"datetime": "2024-01-31", "months": 1}, {"date": "2024-02-29"}),
        ("time_between", {"start": "2024-02-28", "end": "2024-03-01"}, {"value": 2, "unit": "days"}),
        ("format_time", {"datetime": "2026-03-29", "format": "%d %B %Y"}, {"text": "29 March 2026"}),
        ("change_case", {"text": "two words", "case": "snake"}, {"text": "two_words"}),
        ("count_text", {"text": "banana", "of": "na"}, {"count": 2}),
        ("slice_text", {"text": "banana", "start": -3}, {"text": "ana"}),
        ("replace_text", {"text": "banana", "old": "n", "new": "m"}, {"text": "bamama", "replacements": 2}),
        ("match_pattern", {"text": "a1b2", "pattern": r"\d", "replacement": "#"}, {"text": "a#b#"}),
        ("split_text", {"text": "a,b", "separator": ","}, {"parts": ["a", "b"]}),
        ("join_text", {"parts": ["a", "b"], "separator": "-"}, {"text": "a-b"}),
        ("convert_base64", {"text": "hi", "mode": "encode"}, {"text": "aGk="}),
        ("hash_text", {"text": "", "algorithm": "md5"}, {"hash": "d41d8cd98f00b204e9800998ecf8427e"}),
        ("make_uuid", {"version": 5, "name": "a"}, {"uuid": "4f3f2898-69e3-5a0d-820a-c4e87987dbce"}),
    ],
)
async def test_every_builtin_tool_of_the_example_answers(
    name: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    async with running(load_config(CONFIGS / "builtin.yaml", environ={})) as executor:
        outcome = await executor.execute(name, arguments, LOCAL)
    assert outcome.success, outcome.error
    assert {key: outcome.result[key] for key in expected} == expected


def test_the_examples_show_every_builtin_handler() -> None:
    tools = [tool for path in FILES for tool in load_config(path, environ={}).tools.registry]
    shown = {
        tool.implementation.model_dump()["handler"] for tool in tools if tool.implementation.type == "builtin"
    }
    ours = {name for name in handler_names("builtin", wanted="echo") if is_ours(name)}
    assert shown == ours


def is_ours(name: str) -> bool:
    found: Any = find_handler("builtin", name)
    return str(found.__module__).startswith("toolspan_server.")
