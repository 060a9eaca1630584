"""Bytes to lines: however they arrive, every line comes out once, whole or as what is kept of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.common.lines import Lines, Overlong


@pytest.mark.requirement("I3.1.1")
@given(chunks=st.lists(st.binary(max_size=20) | st.just(b"\n"), max_size=12), limit=st.integers(1, 12))
def test_lines_are_cut_alike_however_the_bytes_arrive(chunks: list[bytes], limit: int) -> None:
    lines = Lines(limit)
    got = [line for chunk in chunks for line in lines.feed(chunk)]
    got.append(lines.end())
    expected = b"".join(chunks).split(b"\n")
    assert [line if isinstance(line, bytes) else None for line in got] == [
        line if len(line) <= limit else None for line in expected
    ]
    for line, whole in zip(got, expected, strict=True):
        if isinstance(line, Overlong):
            assert whole.startswith(line.head)
            assert whole.endswith(line.tail)
            assert line.limit == limit


@pytest.mark.requirement("I3.1.1")
def test_of_a_line_over_the_limit_only_its_ends_are_kept() -> None:
    lines = Lines(10_000)
    assert lines.feed(b"start" + b"x" * 9_000) == []
    for _ in range(1_000):
        assert lines.feed(b"y" * 5_000) == []
        assert len(lines._kept) <= 15_000
    [line, following] = lines.feed(b"end\nnext\n")
    assert isinstance(line, Overlong)
    assert line.head.startswith(b"startx")
    assert line.tail.endswith(b"yyend")
    assert max(len(line.head), len(line.tail)) == 1024
    assert following == b"next"


def test_the_last_line_needs_no_newline() -> None:
    lines = Lines()
    assert lines.feed(b"one\ntwo") == [b"one"]
    assert lines.end() == b"two"
    assert lines.end() == b""
