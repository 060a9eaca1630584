"""Event streams and JSON lines, out of bytes in any pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolspan_bridge.formats import FormatError
from toolspan_bridge.formats.shared.framing.limits import Meter
from toolspan_bridge.formats.shared.framing.ndjson import LineReader
from toolspan_bridge.formats.shared.framing.sse import SseReader
from toolspan_bridge.formats.shared.replies.stream import TextPieces

pytestmark = pytest.mark.requirement("I5.1.2")


def events(*chunks: bytes) -> list[tuple[str, str]]:
    reader = SseReader()
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.end()


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (["data: a", ""], [("message", "a")]),
        (["data:a", "", "data:  b", ""], [("message", "a"), ("message", " b")]),
        (["data: a", "data: b", "data", "data: c", ""], [("message", "a\nb\n\nc")]),
        (["event: ping", "data: {}", ""], [("ping", "{}")]),
        (["data: {}", "event: late", ""], [("late", "{}")]),
        (["event: none", "", "data: a", ""], [("message", "a")]),
        ([": keep-alive", "", ": again", "", "data: a", ": in between", ""], [("message", "a")]),
        (["id: 1", "retry: 5", "color: red", "data: a:b: c", ""], [("message", "a:b: c")]),
        (["data", ""], [("message", "")]),
        (["", "", "\ufeffdata: a", ""], []),
        (["\ufeffdata: ü☃🌨", ""], [("message", "ü☃🌨")]),
        (["data: whole but for the blank line"], [("message", "whole but for the blank line")]),
    ],
)
def test_events_are_read_by_the_standard(lines: list[str], read: list[tuple[str, str]], end: str) -> None:
    whole = "".join(line + end for line in lines).encode()
    assert events(whole) == read
    assert events(*(whole[place : place + 1] for place in range(len(whole)))) == read


def test_an_event_is_given_as_soon_as_it_is_whole() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\n\r") == [("message", "a")]
    assert reader.feed(b"\ndata: b\n\n") == [("message", "b")]
    assert reader.end() == []


def test_what_the_end_cut_off_is_given_last_for_the_format_to_judge() -> None:
    assert events(b"data: a\n\ndata: {") == [("message", "a"), ("message", "{")]


@given(st.text("ab:\n\r \ufeffü🌨", max_size=40).map(str.encode), st.lists(st.integers(0, 80), max_size=6))
def test_events_are_the_same_in_any_pieces(whole: bytes, places: list[int]) -> None:
    edges = [0, *sorted(place for place in places if place <= len(whole)), len(whole)]
    assert events(*(whole[a:b] for a, b in pairwise(edges))) == events(whole)


def test_a_long_event_and_a_long_stream_are_refused() -> None:
    with pytest.raises(FormatError, match="an event of the streamed answer is longer than 20 bytes"):
        SseReader(Meter(event=20)).feed(b"data: a\n\ndata: " + b"x" * 20)
    reader = SseReader(Meter(stream=100, event=20))
    with pytest.raises(FormatError, match="the streamed answer is longer than 100 bytes"):
        for _ in range(20):
            reader.feed(b"data: a\n\n")
    with pytest.raises(FormatError, match="longer than 20 bytes"):
        SseReader(Meter(event=20)).feed(b"data: a\n" * 5)
    with pytest.raises(FormatError, match="longer than 20 bytes"):
        LineReader(Meter(event=20)).feed(b"{}\n" + b"x" * 21)


def test_lines_are_given_whole_without_blank_ones() -> None:
    reader = LineReader()
    assert reader.feed(b'{"a"') == []
    assert reader.feed(b": 1}\r\n\n  \n{}\n[") == [b'{"a": 1}', b"{}"]
    assert reader.feed("\u00fc".encode()[:1]) == [] and reader.feed("\u00fc".encode()[1:]) == []
    assert reader.end() == ["[\u00fc".encode()] and reader.end() == []


@given(st.text(max_size=12), st.lists(st.integers(0, 24), max_size=4))
def test_a_text_is_the_same_whatever_code_units_it_is_split_at(text: str, places: list[int]) -> None:
    """As UTF-16 programs split it: half a pair at the end of a piece, the other half in the next."""
    units = text.encode("utf-16-le", "surrogatepass")
    edges = [0, *sorted(place * 2 for place in places if place * 2 <= len(units)), len(units)]
    joined, shown = TextPieces(), ""
    for start, end in pairwise(edges):
        shown += joined.add(units[start:end].decode("utf-16-le", "surrogatepass"))
    assert joined.text == text and shown == text
