from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.upstreams._lines import Lines, StderrTail

pytestmark = pytest.mark.requirement("I4.4.1")


def fed(chunks: list[bytes], limit: int = 1_000) -> list[tuple[bytes, bool]]:
    lines = Lines(limit)
    return [line for chunk in chunks for line in lines.feed(chunk)]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_lines_do_not_depend_on_where_the_chunks_are_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    lines = Lines(1_000)
    whole = [line for chunk in chunks for line, _ in lines.feed(chunk)]
    *ended, rest = data.split(b"\n")
    assert (whole, lines.rest()) == ([line for line in ended if line], rest)


def test_a_line_over_the_limit_is_marked_and_only_its_start_is_kept() -> None:
    chunks = [b"x" * 600, b"y" * 600, b"z" * 600, b"\nnext\n"]
    (head, too_long), following = fed(chunks)
    assert too_long and len(head) <= 600
    assert head.startswith(b"xxx")
    assert following == (b"next", False)


@given(st.lists(st.binary(min_size=1, max_size=50).filter(lambda chunk: b"\n" not in chunk), max_size=200))
def test_an_endless_line_takes_no_more_memory_than_the_limit(chunks: list[bytes]) -> None:
    lines = Lines(100)
    for chunk in chunks:
        assert list(lines.feed(chunk)) == []
        assert len(lines.rest()) <= 200


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    assert fed([b"x" * 10 + b"\n"], limit=10) == [(b"x" * 10, False)]


def test_the_tail_keeps_the_last_lines_cut_to_its_width() -> None:
    tail = StderrTail(lines=3, width=5)
    for line in (b"one", b"  ", b"two", b"\xff\xfe", b"abcdefgh"):
        tail.add(line)
    assert tail.lines == ("two", "��", "abcde")
