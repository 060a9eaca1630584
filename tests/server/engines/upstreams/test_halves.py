"""Halves of surrogate pairs in JSON: what stands alone is replaced, and all else stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.upstreams.limits.bounded_json import mend_halves, parsed

pytestmark = pytest.mark.requirement("I26.2.1")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"half \ud83d"', "half \ufffd"),
        (r'"\uDE00 half"', "\ufffd half"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\\ud83d"', r"\ud83d"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'{"\ud83d": [1, "\ud800\n"]}', {"\ufffd": [1, "\ufffd\n"]}),
        (r'"\u00d8 \u0041"', "Ø A"),
    ],
)
def test_a_half_that_stands_alone_is_replaced(text: str, value: object) -> None:
    assert parsed(text.encode()) == value


@given(st.text(st.characters(), max_size=30))
def test_what_json_can_hold_stays_as_it_is(text: str) -> None:
    for ascii_only in (True, False):
        written = json.dumps([text], ensure_ascii=ascii_only).encode("utf-8")
        assert mend_halves(written) == written


@given(st.lists(st.sampled_from(["a", "\\", '"', "\ud83d", "\ude00", "\U0001f600", "\n"]), max_size=8))
def test_every_text_of_units_is_read_as_utf_16_reads_it(parts: list[str]) -> None:
    text = "".join(parts)
    units = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    expected = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert len(parsed(json.dumps(text).encode())) == len(expected)
    assert parsed(json.dumps(text).encode()).replace("\ufffd", "") == expected.replace("\ufffd", "")
