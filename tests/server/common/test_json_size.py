"""How many values JSON holds is known before it is parsed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cost import at_most
from toolspan_server.common.json_size import ValueCounter, holds_more_values
from toolspan_server.common.json_values import read_foreign_json

pytestmark = pytest.mark.requirement("I24.5.6")

_TEXTS = st.text(alphabet='a,[{}]"\\é')
_VALUES = st.recursive(
    _TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner),
)


def counted(value: Any) -> tuple[int, int]:
    """The values in ``value``, and the empty lists and objects."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    parts = [counted(each) for each in inner]
    is_empty = isinstance(value, dict | list) and not inner
    return 1 + sum(each for each, _ in parts), is_empty + sum(each for _, each in parts)


@given(_VALUES, st.booleans(), st.integers(1, 9))
def test_values_are_counted_outside_texts_however_the_json_is_split(
    value: Any, ascii: bool, size: int
) -> None:
    raw = json.dumps(value, ensure_ascii=ascii).encode()
    counter = ValueCounter()
    for start in range(0, len(raw), size):
        counter.feed(raw[start : start + size])
    values, empty = counted(value)
    assert counter.found == values + empty - 1


def test_signs_in_texts_are_no_values_and_any_other_encoding_counts_as_it_is() -> None:
    inside = json.dumps(["[,{" * 100_000])
    assert not holds_more_values(inside, 10)
    assert not holds_more_values(inside.encode(), 10)
    assert holds_more_values('["∢"'.encode("utf-16") + ",1".encode("utf-16-le") * 50, 10)


@pytest.mark.parametrize("raw", [b"[" + b"[]," * 5_000_000 + b"1]", b'"' + b"\\\\," * 5_000_000 + b'"'])
def test_counting_takes_a_moment_whatever_the_json_is(raw: bytes) -> None:
    with at_most(units=60):
        assert holds_more_values(raw, 100_000) == raw.startswith(b"[")


def test_what_another_server_answers_is_refused_before_it_is_made() -> None:
    with at_most(units=20), pytest.raises(ValueError, match="more than 100,000 values"):
        read_foreign_json(b"[" + b"[]," * 2_000_000 + b"1]")
