"""Long lists: counts at a terminal, each entry elsewhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are POSIX", allow_module_level=True)

from tests.support.cli import toolspan
from tests.support.terminal import Terminal
from toolspan_bridge.cli.long_lists import MOST, grouped

pytestmark = pytest.mark.requirement("I13.3.11")

COUNT = MOST + 10
LOSSY = {"type": "object", "properties": {"x": {"type": "string", "description": "X", "not": {"const": "a"}}}}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    tools = [
        {
            "name": f"tool_{number}",
            "description": "One",
            "parameters": LOSSY,
            "implementation": {"type": "mock", "mock_response": 1},
        }
        for number in range(COUNT)
    ]
    (tmp_path / "toolspan.yaml").write_text(json.dumps({"name": "shop", "tools": {"registry": tools}}))
    return tmp_path


def at_terminal(folder: Path, *arguments: str) -> str:
    with Terminal(*arguments, cwd=folder, size=(40, 100)) as terminal:
        terminal.ended()
    return terminal.shown


def named(text: str) -> int:
    return sum(f"tool_{number}" in text for number in range(11, COUNT))


@pytest.mark.long
@pytest.mark.parametrize(
    "verb",
    [
        ("tools", "list"),
        ("tools", "list", "--names", "openai"),
        ("lint", "-f", "gemini"),
        ("export", "-f", "gemini"),
    ],
)
def test_a_terminal_gets_counts_and_how_to_see_all(verb: tuple[str, ...], shop: Path) -> None:
    shown = at_terminal(shop, *verb)
    assert str(COUNT) in shown
    assert "--all" in shown
    assert "--tool GLOB" in shown
    assert len(shown.splitlines()) < 25
    assert named(shown) == 0
    assert named(at_terminal(shop, *verb, "--all")) == COUNT - 11
    assert "tool_12" in at_terminal(shop, *verb, "--tool", "tool_12")


@pytest.mark.parametrize("verb", [("tools", "list"), ("lint", "-f", "gemini"), ("export", "-f", "gemini")])
def test_a_pipe_gets_each(verb: tuple[str, ...], shop: Path) -> None:
    assert named(toolspan(*verb, cwd=shop).out) == COUNT - 11
    assert named(toolspan(*verb, "--json", cwd=shop).out) == COUNT - 11


def test_groups_are_counted_largest_first_and_name_a_few() -> None:
    entries = [(("a",), "one"), *((("b",), name) for name in ("1", "2", "2", "3", "4"))]
    assert [(each.key, each.count, each.such_as) for each in grouped(entries)] == [
        (("b",), 5, "1, 2, 3, …"),
        (("a",), 1, "one"),
    ]
