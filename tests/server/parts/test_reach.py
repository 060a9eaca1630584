"""How far the calls of tools reach: decided for every kind and handler of ours, and told in the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from toolspan_server import load_config
from toolspan_server.engines.registration import handler_names, is_ours
from toolspan_server.engines.registration._table import HandlerKind
from toolspan_server.parts.kind import KINDS
from toolspan_server.parts.reach import LOCAL_HANDLERS, OUTSIDE_HANDLERS, handler_reach
from toolspan_server.protocol.messages.wire import render_tool
from toolspan_server.tools.registry import Registry

pytestmark = pytest.mark.requirement("I24.2.4")

DECIDED_KINDS = {
    "builtin": "by its handler",
    "http": "outside",
    "internal": "by its handler",
    "mcp": "outside",
    "mock": "local",
    "pipeline": "as far as the tools that it calls",
}
CODE = """
from toolspan_server import handler

@handler("reach_test")
def run(arguments, context):
    return 1
"""
DECIDED_BY_OPTIONS = {"Bash", "sql_query"}


def test_somebody_decided_how_far_each_kind_reaches() -> None:
    assert set(KINDS.names) == DECIDED_KINDS.keys()


def test_somebody_decided_how_far_each_handler_of_ours_reaches() -> None:
    kinds: tuple[HandlerKind, ...] = ("builtin", "internal")
    found = [(kind, name) for kind in kinds for name in handler_names(kind, wanted="none")]
    ours = {name for kind, name in found if is_ours(kind, name)}
    decided = LOCAL_HANDLERS.keys() | OUTSIDE_HANDLERS | DECIDED_BY_OPTIONS
    assert ours == decided


def test_what_nobody_decided_about_reaches_outside() -> None:
    assert handler_reach("later", None, (), (), ours=True) == "outside"
    assert handler_reach("theirs", None, (), (), ours=False) == "code"


@pytest.mark.parametrize(
    ("tags", "reach"),
    [
        (("sandbox:bubblewrap", "network:off"), "local"),
        (("sandbox:bubblewrap", "network:on"), "outside"),
        (("sandbox:none", "network:off"), "outside"),
        ((), "outside"),
    ],
)
def test_commands_stay_here_in_a_sandbox_without_network(tags: tuple[str, ...], reach: str) -> None:
    assert handler_reach("Bash", None, tags, (), ours=True) == reach


def tool(name: str, **implementation: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"Does {name}.",
        "parameters": {"type": "object"},
        "implementation": implementation,
    }


def statement(name: str, database: str) -> dict[str, Any]:
    options = {"database": database, "statement": "SELECT 1"}
    return tool(name, type="internal", handler="sql_query", options=options)


def steps(name: str, *tools: str) -> dict[str, Any]:
    return tool(name, type="pipeline", steps=[{"id": f"s{n}", "tool": each} for n, each in enumerate(tools)])


def test_the_list_tells_what_stays_here_and_what_is_code_and_nothing_of_the_rest(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(CODE)
    config = {
        "handlers": ["code.py"],
        "services": {
            "databases": {
                "file": {"url": "sqlite:///a.db"},
                "near": {"url": "mysql://u@127.0.0.1/x"},
                "far": {"url": "mysql://u@db.example/x"},
            }
        },
        "tools": {
            "registry": [
                tool("mock", type="mock", mock_response=1),
                tool("echo", type="builtin", handler="echo"),
                tool("code", type="builtin", handler="reach_test"),
                tool("http", type="http", url="https://api.example/", method="GET"),
                statement("file", "file"),
                statement("near", "near"),
                statement("far", "far"),
                steps("inside", "mock", "echo"),
                steps("mixed", "mock", "code"),
                steps("outward", "code", "http"),
                steps("nested", "inside", "outward"),
            ]
        },
    }
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(config))
    listed = [render_tool(each) for each in Registry.from_config(load_config(path))]
    assert {each["name"]: each.get("_meta", {}).get("dev.toolspan/reach", "outside") for each in listed} == {
        "mock": "local",
        "echo": "local",
        "code": "code",
        "http": "outside",
        "file": "local",
        "near": "local",
        "far": "outside",
        "inside": "local",
        "mixed": "code",
        "outward": "outside",
        "nested": "outside",
    }
