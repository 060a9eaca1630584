"""Output that is kept within its limit, whatever its pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_server.engines.sandbox import Output

pytestmark = pytest.mark.requirement("I12.3.23")


def written(limit: int, *chunks: bytes) -> Output:
    output = Output(limit)
    for chunk in chunks:
        output.add(chunk)
    return output


def test_output_within_the_limit_is_whole() -> None:
    assert written(10, b"01234", b"56789").take() == "0123456789"


def test_of_more_the_beginning_and_the_end_are_kept_with_a_marker_between() -> None:
    output = written(10, b"begin", b"x" * 100, b"e", b"nded.")
    assert output.take() == "begin\n[… 101 bytes left out here: output_bytes is 10 …]\nnded."
    assert output.total == 111


def test_what_was_taken_does_not_come_again() -> None:
    output = written(10, b"first")
    assert (output.take(), output.take()) == ("first", "")
    output.add(b"second")
    assert (output.take(), output.total) == ("second", 11)


def test_a_character_in_two_pieces_comes_whole() -> None:
    output = written(100, "aé".encode()[:2])
    assert output.take(whole=False) == "a"
    output.add("é".encode()[1:])
    assert output.take(whole=False) == "é"


def test_a_cut_within_a_character_leaves_the_character_out() -> None:
    assert "\ufffd" not in written(7, ("é" * 100).encode()).take()


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert written(10, b"\xff\xfe").take() == "\ufffd\ufffd"


@given(st.lists(st.binary(max_size=50), max_size=20), st.integers(2, 60))
def test_however_it_comes_the_same_is_kept(chunks: list[bytes], limit: int) -> None:
    assert written(limit, *chunks).take() == written(limit, b"".join(chunks)).take()


@given(st.text(max_size=200), st.integers(1, 7))
def test_text_taken_in_pieces_is_the_text(text: str, size: int) -> None:
    output, data, pieces = Output(10_000), text.encode(), ""
    for start in range(0, len(data), size):
        output.add(data[start : start + size])
        pieces += output.take(whole=False)
    assert pieces + output.take() == text
