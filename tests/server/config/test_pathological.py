"""Configs of every bad shape are told what is wrong with them in seconds, and in words of bounded length."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.configs import load, problems
from tests.support.cost import at_most
from toolspan_server import ConfigError, load_config

pytestmark = [pytest.mark.long, pytest.mark.requirement("I9.3.25")]

UNITS = 1_000
"""Seconds of this thread's work; the first of these took from 40 to 55 when every problem was told."""
TOLD = 101
LONGEST = 100_000


def mock(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "d", "implementation": {"type": "mock", "mock_response": 1}, **more}


def registry(*entries: Any) -> str:
    return json.dumps({"tools": {"registry": entries}}, separators=(",", ":"))


def query(database: str) -> dict[str, Any]:
    options = {"database": database, "statement": "SELECT 1"}
    return {
        "name": "a",
        "description": "d",
        "implementation": {"type": "internal", "handler": "sql_query", "options": options},
    }


SHAPES: dict[str, Callable[[], str]] = {
    "faulty tools": lambda: registry(*({"nme": "t"} for _ in range(100_000))),
    "faulty tools in YAML": lambda: "tools:\n  registry:\n" + "  - nme: t\n" * 50_000,
    "duplicate keys": lambda: "{" + ",".join(['"version": 1'] * 300_000) + "}",
    "duplicate keys in YAML": lambda: "version: 1\n" * 300_000,
    "unknown keys": lambda: json.dumps({f"vresion{index}": 1 for index in range(150_000)}),
    "unknown keys of a tool": lambda: registry(mock("a", **{f"descrption{i}": 1 for i in range(100_000)})),
    "tools that are none": lambda: registry(*[5] * 200_000),
    "equal names": lambda: registry(*(mock("same") for _ in range(20_000))),
    "names that differ by case": lambda: registry(*(mock("aA"[i % 2]) for i in range(20_000))),
    "resources": lambda: json.dumps({"resources": [{"uri": "t://a", "nme": "x"}] * 100_000}),
    "routes": lambda: json.dumps({"responses": [{"tigger": "x"}] * 100_000}),
    "variables": lambda: registry(mock("a", description="${NOPE} " * 300_000)),
    "variables of many names": lambda: registry(
        *(mock(f"a{i}", title=f"${{NOPE_{i}}}") for i in range(20_000))
    ),
    "databases that are not there": lambda: json.dumps(
        {
            "services": {"databases": {f"db{i}": {"url": "sqlite:///a.db"} for i in range(2_000)}},
            "tools": {"registry": [query(f"bd{i}") for i in range(5_000)]},
        }
    ),
    "similar names": lambda: json.dumps(
        {
            "toolsets": {f"s{i}": {"tools": [f"tool_nam{i}"]} for i in range(20_000)},
            "tools": {"registry": [mock(f"tool_name{i}") for i in range(5_000)]},
        }
    ),
    "a deep text": lambda: '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a deep text in YAML": lambda: "a: " + "[" * 5_000,
    "a huge key": lambda: json.dumps({"x" * 4_000_000: 1}),
    "a huge number": lambda: "version: " + "9" * 1_000_000,
    "nothing but comments": lambda: "# x\n" * 1_000_000,
    "a string that never ends": lambda: '{"version": "' + "a" * 4_000_000,
}


QUICK = ("faulty tools", "duplicate keys", "a deep text", "a huge number")


@pytest.mark.parametrize(
    "shape",
    [shape if shape in QUICK else pytest.param(shape, marks=pytest.mark.long) for shape in SHAPES],
)
def test_what_is_wrong_is_told_in_bounded_time_and_words(tmp_path: Path, shape: str) -> None:
    text = SHAPES[shape]()
    path = tmp_path / ("config.yaml" if "YAML" in shape or text[0] in "v#" else "config.json")
    path.write_text(text)
    with at_most(units=UNITS), pytest.raises(ConfigError) as raised:
        load_config(path, environ={})
    assert 1 <= len(raised.value.problems) <= TOLD
    assert len(str(raised.value)) < LONGEST


def test_the_first_problems_are_told_in_the_files_order_and_that_there_are_more(tmp_path: Path) -> None:
    found = problems(tmp_path, registry(*({"nme": "t"} for _ in range(1_000))), name="config.json")
    assert len(found) == TOLD
    assert [problem.column for problem in found[:-1]] == sorted(problem.column for problem in found[:-1])
    assert found[0].path == "$.tools.registry[0]"
    assert found[-1].message.endswith("more problems were found, and there may be others")


def test_every_faulty_tool_is_left_out_however_many_are_told(tmp_path: Path) -> None:
    text = registry(*(mock(f"t{i}") if i % 2 else {"nme": "t"} for i in range(1_000)), mock("t1"))
    config = load(tmp_path, text, name="config.json", skip_invalid=True)
    assert [tool.name for tool in config.tools.registry] == [f"t{i}" for i in range(1, 1_000, 2)]
    assert len(config.skipped) == TOLD
    assert "more problems were found" in config.skipped[-1].message


def test_a_hint_of_many_names_shows_the_first_and_how_many_more(tmp_path: Path) -> None:
    tools = {"registry": [mock(f"tool_{i:03}") for i in range(300)]}
    text = json.dumps({"toolsets": {"s": {"tools": ["qqq"]}}, "tools": tools})
    (problem,) = problems(tmp_path, text, name="config.json")
    assert problem.hint.startswith("known: tool_000, tool_001")
    assert problem.hint.endswith("tool_049 and 250 more")
