"""Wire names: legal everywhere, one tool each, the same every time."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.formats.names import MAX_LENGTH, NameTable, legal_name
from toolspan_bridge.messages import ToolSpec

pytestmark = pytest.mark.requirement("I2.6.2")

PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
NAMES = st.text(max_size=80) | st.sampled_from(["a", "A", "a__b", "b", "b__c", "x.y", "x_y", "é", "", "__"])
KEYS = st.lists(st.tuples(NAMES, NAMES), max_size=12)


def tool(server: str, name: str, description: str = "") -> ToolSpec:
    return ToolSpec(server, name, description, {"type": "object"})


def wire(*keys: tuple[str, str]) -> list[str]:
    return list(NameTable.of([tool(*key) for key in keys]).as_dict())


@given(KEYS)
def test_names_are_legal_distinct_and_lead_back_to_their_tool(keys: list[tuple[str, str]]) -> None:
    table = NameTable.of([tool(*key) for key in keys])
    assert len(table.tools) == len(set(keys))
    assert len({name.casefold() for name in table.as_dict()}) == len(set(keys))
    for spec in table.tools:
        assert PORTABLE.fullmatch(table.wire(spec))
        assert table.tool(table.wire(spec)) is spec


def test_a_tool_is_meant_by_its_own_name_where_no_other_has_it() -> None:
    table = NameTable.of([tool("x", "add"), tool("x", "y__add"), tool("z", "add")])
    assert table.called("x__add") == tool("x", "add")
    assert table.called("y__add") == tool("x", "y__add")
    assert table.called("add") is None and table.called("sub") is None


@given(KEYS, st.randoms())
def test_the_order_in_which_tools_come_changes_nothing(keys: list[tuple[str, str]], random: Random) -> None:
    shuffled = list(keys)
    random.shuffle(shuffled)
    assert wire(*keys) == wire(*shuffled)


def test_a_name_is_the_server_and_the_tool_even_with_one_server() -> None:
    assert wire(("files", "read")) == ["files__read"]


def test_a_further_server_renames_nothing() -> None:
    before = wire(("files", "read.all"), ("files", "write"))
    after = wire(("files", "read.all"), ("files", "write"), ("web", "read"))
    assert set(before) < set(after)


def test_a_changed_name_bears_a_hash_of_both_names() -> None:
    (name,) = wire(("my server", "read/all"))
    assert re.fullmatch(r"my_server__read_all_[0-9a-f]{8}", name)


def test_a_name_that_begins_with_a_digit_gets_an_underscore() -> None:
    (name,) = wire(("9lives", "x"))
    assert name.startswith("_9lives__x_")


def test_a_long_name_is_cut_to_the_limit() -> None:
    (name,) = wire(("s" * 40, "t" * 40))
    assert len(name) == MAX_LENGTH and name[:42] == "s" * 40 + "__"


def test_names_that_differ_only_in_case_both_get_a_hash() -> None:
    names = wire(("s", "Read"), ("s", "read"))
    assert all(re.fullmatch(r"s__[Rr]ead_[0-9a-f]{8}", name) for name in names)


def test_two_ways_to_the_same_base_are_told_apart() -> None:
    assert len(set(wire(("a", "b__c"), ("a__b", "c")))) == 2


def test_a_tool_named_like_anothers_hash_gets_a_longer_hash() -> None:
    (taken,) = wire(("s", "x.y"))
    names = wire(("s", "x.y"), ("s", taken.removeprefix("s__")))
    assert len({name.casefold() for name in names}) == 2


def test_of_the_same_tool_twice_the_first_counts() -> None:
    first, second = tool("s", "t", "one"), tool("s", "t", "two")
    assert NameTable.of([first, second]).tools == (first,)


@pytest.mark.parametrize("name", ["S__T", "s__", "t", "s__t ", ""])
def test_a_name_that_is_not_in_the_table_is_no_tool(name: str) -> None:
    assert NameTable.of([tool("s", "t")]).tool(name) is None


def test_a_tool_that_is_not_in_the_table_has_no_name() -> None:
    with pytest.raises(KeyError):
        NameTable.of([]).wire(tool("s", "t"))


@given(st.text(max_size=100))
def test_a_made_up_name_can_be_sent_back(name: str) -> None:
    assert PORTABLE.fullmatch(legal_name(name))
    assert legal_name(name) == name or not PORTABLE.fullmatch(name)
    assert len(legal_name(name)) <= len(name) + 1
