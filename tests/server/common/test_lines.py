"""A stream of bytes in lines of bounded length, wherever its chunks are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.common.lines import Lines, Overlong

pytestmark = pytest.mark.requirement("I4.4.1", "I10.4.6")


def fed(chunks: list[bytes], limit: int = 1_000) -> list[bytes | Overlong]:
    lines = Lines(limit)
    return [line for chunk in chunks for line in lines.feed(chunk)]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_lines_do_not_depend_on_where_the_chunks_are_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    lines = Lines(1_000)
    whole = [line for chunk in chunks for line in lines.feed(chunk)]
    *ended, rest = data.split(b"\n")
    assert (whole, lines.end()) == (ended, rest)


def test_a_line_over_the_limit_is_marked_and_only_its_ends_are_kept() -> None:
    chunks = [b"x" * 600, b"y" * 600, b"z" * 600, b"\nnext\n"]
    long, following = fed(chunks)
    assert isinstance(long, Overlong)
    assert (long.head[:3], long.tail[-3:], long.limit) == (b"xxx", b"zzz", 1_000)
    assert len(long.head) + len(long.tail) <= 2_048
    assert following == b"next"


@given(st.lists(st.binary(min_size=1, max_size=50).filter(lambda chunk: b"\n" not in chunk), max_size=200))
def test_an_endless_line_takes_no_more_memory_than_the_limit(chunks: list[bytes]) -> None:
    lines = Lines(100)
    for chunk in chunks:
        assert list(lines.feed(chunk)) == []
        assert lines.kept_bytes <= 2_048 + 100


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    assert fed([b"x" * 10 + b"\n"], limit=10) == [b"x" * 10]
