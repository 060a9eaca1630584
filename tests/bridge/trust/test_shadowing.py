"""Tools whose names could be taken for those of another server's."""

from __future__ import annotations

import pytest

from toolspan_bridge.messages import ToolSpec
from toolspan_bridge.trust import Shadows, shadow_notes

pytestmark = pytest.mark.requirement("I12.1.13")


def tool(server: str, name: str) -> ToolSpec:
    return ToolSpec(server, name, "", {"type": "object"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("search", "search"),
        ("search", "Search"),
        ("read_file", "read-file"),
        ("read_file", "readFile"),
        ("read_file", "read.file"),
        ("pay", "р\u0430у"),
        ("total", "tota1"),
        ("list", "Iist"),
        ("open", "\uff4fpen"),
        ("open", "o\u200bpen"),
        ("post", "ρost"),
    ],
)
def test_a_name_that_is_that_of_another_server_or_looks_like_it_is_named(one: str, other: str) -> None:
    shadows = Shadows([tool("a", one), tool("b", other), tool("b", "unrelated")])
    assert [found.server for found in shadows.of("a", one)] == ["b"]
    assert [found.server for found in shadows.of("b", other)] == ["a"]
    (note,) = shadows.notes()
    assert "server 'a'" in note and "server 'b'" in note
    assert "'b'" in shadow_notes(shadows.of("a", one), one)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [("search", "research"), ("read_file", "read_files"), ("get", "set"), ("検索", "検査"), ("add2", "add3")],
)
def test_other_names_are_not(one: str, other: str) -> None:
    assert Shadows([tool("a", one), tool("b", other)]).notes() == []


def test_names_of_one_server_are_its_own_affair() -> None:
    assert Shadows([tool("a", "Read"), tool("a", "read")]).notes() == []


def test_letters_of_other_scripts_are_spelled_out() -> None:
    shadows = Shadows([tool("a", "pay"), tool("b", "p\u0430y")])
    assert "CYRILLIC SMALL LETTER A" in shadows.notes()[0]
    assert "CYRILLIC SMALL LETTER A" in shadow_notes(shadows.of("a", "pay"), "pay")[0]


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    tools = [tool(server, f"tool_{number * 7}x") for number in range(100, 200) for server in "ab"]
    notes = Shadows(tools).notes()
    assert len(notes) == 21 and "80 more names" in notes[-1]
