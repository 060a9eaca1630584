"""What is small is plain JSON already: a copier would give it as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolspan_server.common.json_values import SMALL, JsonSanitizer, is_small

pytestmark = pytest.mark.requirement("I9.4.1", "I9.4.2")


class Text(str):
    """A text that is more than one."""


class Number(int):
    """A number that is more than one."""


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    SCALARS | st.builds(Text, st.text()) | st.builds(Number) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=10,
)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=9) | st.text("abc") | st.integers(), VALUES) | VALUES)
def test_a_copier_gives_what_is_small_as_it_is(value: Any) -> None:
    if is_small(value):
        sanitizer = JsonSanitizer(len(value) + 1, SMALL, max_key=SMALL)
        copied = sanitizer.copy(value)
        assert copied == value
        assert [type(item) for item in copied.values()] == [type(item) for item in value.values()]


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=9), st.booleans() | st.text("abc"), max_size=9))
def test_a_few_short_members_are_small(value: dict[str, Any]) -> None:
    assert is_small(value)


OTHERS: dict[str, Any] = {
    "no object": ["a"],
    "an object in it": {"a": {}},
    "a list in it": {"a": []},
    "an empty name": {"": 1},
    "a number for a name": {1: 1},
    "a name that is more than a text": {Text("a"): 1},
    "a text that is more than one": {"a": Text("a")},
    "a number that is more than one": {"a": Number(1)},
    "a fraction": {"a": 1.5},
    "a number of many digits": {"a": 10**20},
    "half a character": {"a": "\ud800"},
    "half a character for a name": {"\ud800": 1},
    "much text": {"a": "x" * SMALL},
    "a long name": {"x" * SMALL: 1},
    "many members": {str(number): None for number in range(60)},
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_copier_has_to_look_at_is_not_small(name: str) -> None:
    assert not is_small(OTHERS[name])
