"""The ids of a batch's requests on the wire, and what is no such id."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.batch.services.reading import name_of, place_of

pytestmark = pytest.mark.requirement("I11.3.6")


@given(total=st.integers(1, 100_000), data=st.data())
def test_an_id_is_read_back_as_the_place_of_its_request(total: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, total - 1))
    assert place_of(name_of(place), total) == place


@given(total=st.integers(0, 100_000), beyond=st.integers(0, 10**12))
def test_an_id_beyond_the_requests_is_none_of_theirs(total: int, beyond: int) -> None:
    assert place_of(name_of(total + beyond), total) is None


@pytest.mark.parametrize("name", ["", "r", "r-1", "r1 ", "x1", "r١", "r0x", "1", None, 1, ["r1"]])
def test_anything_else_is_no_id(name: Any) -> None:
    assert place_of(name, 10) is None
