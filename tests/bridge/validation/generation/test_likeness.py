"""Which tools are like each other: the same as when all are compared, without comparing all."""

from __future__ import annotations

from itertools import islice, product
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_bridge.validation.generation import Subject, likeness
from toolspan_bridge.validation.generation.actions import action_of, near
from toolspan_bridge.validation.generation.likeness import Likeness

pytestmark = pytest.mark.requirement("I14.1.80")

WORDS = st.sampled_from(["weather", "city", "invoice", "playlist", "tractor", "harbour", "museum"])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map("_".join)
DESCRIPTIONS = st.lists(WORDS, max_size=4).map(" ".join)


@given(st.dictionaries(NAMES, DESCRIPTIONS, min_size=1, max_size=12), st.sets(WORDS), st.data())
def test_the_rival_of_a_tool_is_the_one_that_is_found_by_comparing_all(
    described: dict[str, str], said: set[str], data: st.DataObject
) -> None:
    tools = tuple(Subject(name, text, {}) for name, text in described.items())
    tool = data.draw(st.sampled_from(tools))
    with patch.object(likeness, "_COMMON", 2):
        found = Likeness(tools)
        words = frozenset(said)
        others = [each for each in tools if each is not tool]
        best = max(others, key=lambda each: found.of(words, each), default=None)
        expected = best if best is not None and found.of(words, best) >= found.of(words, tool) else None
        rival = found.rival(words, tool)
        assert (rival is None) == (expected is None)
        assert rival is None or found.of(words, rival) == found.of(words, best or rival)


@given(st.dictionaries(NAMES, DESCRIPTIONS, min_size=1, max_size=12), st.integers(1, 8))
def test_the_tools_near_one_of_few_are_those_that_share_most_of_their_words(
    described: dict[str, str], most: int
) -> None:
    tools = tuple(Subject(name, text, {}) for name, text in described.items())
    for tool in tools:

        def shared(other: Subject, tool: Subject = tool) -> float:
            return len(other.words & tool.words) / (len(other.words | tool.words) or 1)

        others = sorted(
            (each for each in tools if each is not tool), key=lambda each: (-shared(each), each.name)
        )
        assert near(tool, tools, most) == others[:most]


@pytest.mark.long
def test_thousands_of_tools_that_share_words_take_a_bounded_amount_of_work_each() -> None:
    text = "Get the current state of the item in the store of the customer"
    marks = islice(map("".join, product("bdfgklmnprst", repeat=4)), 3_000)
    tools = tuple(Subject(f"get_item_{mark}", f"{text} {mark}", {}) for mark in marks)
    with at_most(units=1_000):
        for tool in tools:
            assert action_of(tool, tools)
            assert len(near(tool, tools, 8)) == 8
