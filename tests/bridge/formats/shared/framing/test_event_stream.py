"""Amazon's binary event stream: all types of headers, both checksums, any pieces; read as botocore reads."""

from __future__ import annotations

import struct
import uuid
import zlib
from itertools import pairwise
from typing import Any

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.event_frames import frame, raw_frame
from toolspan_bridge.formats import FormatError
from toolspan_bridge.formats.shared.framing.event_stream import Frame, FrameReader
from toolspan_bridge.formats.shared.framing.limits import Meter

pytestmark = pytest.mark.requirement("I5.1.2")

IDENTITY = uuid.UUID("12345678-1234-5678-1234-567812345678")
EVERY_TYPE: dict[str, tuple[bytes, Any]] = {
    "yes": (b"\x00", True),
    "no": (b"\x01", False),
    "byte": (b"\x02" + struct.pack(">b", -7), -7),
    "short": (b"\x03" + struct.pack(">h", -700), -700),
    "int": (b"\x04" + struct.pack(">i", -70_000), -70_000),
    "long": (b"\x05" + struct.pack(">q", -(2**40)), -(2**40)),
    "bytes": (b"\x06" + struct.pack(">H", 2) + b"\xff\x00", b"\xff\x00"),
    "string": (b"\x07" + struct.pack(">H", 6) + "☃ æ".encode(), "☃ æ"),
    "time": (b"\x08" + struct.pack(">q", 1_790_000_000_123), 1_790_000_000_123),
    "uuid": (b"\x09" + IDENTITY.bytes, IDENTITY),
}
WIRE = {name: written for name, (written, _) in EVERY_TYPE.items()}
GOOD = frame(b'{"a": 1}', event="chunk")


def read(*chunks: bytes, meter: Meter | None = None) -> list[Frame]:
    reader = FrameReader(meter)
    frames = [found for chunk in chunks for found in reader.feed(chunk)]
    assert reader.pending == 0
    return frames


def test_headers_of_every_type_are_read() -> None:
    (found,) = read(raw_frame(b"payload", WIRE))
    assert found == Frame({name: value for name, (_, value) in EVERY_TYPE.items()}, b"payload")
    assert (found.header("string"), found.header("int"), found.header("none")) == ("☃ æ", "", "")


def test_botocore_reads_the_same() -> None:
    whole = raw_frame(b"payload", {k: v for k, v in WIRE.items() if k != "uuid"}) + GOOD
    buffer = EventStreamBuffer()
    buffer.add_data(whole)
    theirs = [(dict(message.headers), message.payload) for message in buffer]
    assert theirs == [(found.headers, found.payload) for found in read(whole)]


@settings(max_examples=60, deadline=None)
@given(
    messages=st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=40)), max_size=4),
    places=st.lists(st.integers(0, 400), max_size=8),
)
def test_frames_are_the_same_in_any_pieces_and_to_botocore(
    messages: list[tuple[str, bytes]], places: list[int]
) -> None:
    whole = b"".join(frame(payload, event=name) for name, payload in messages)
    edges = sorted({0, len(whole), *(place for place in places if place < len(whole))})
    found = read(*(whole[start:end] for start, end in pairwise(edges)))
    buffer = EventStreamBuffer()
    buffer.add_data(whole)
    assert [(each.headers, each.payload) for each in found] == [
        (dict(message.headers), message.payload) for message in buffer
    ]


def test_byte_by_byte() -> None:
    assert [each.payload for each in read(*(bytes([byte]) for byte in GOOD * 2))] == [b'{"a": 1}'] * 2


@pytest.mark.parametrize("place", range(len(GOOD)))
def test_a_changed_byte_anywhere_is_found(place: int) -> None:
    changed = bytearray(GOOD)
    changed[place] ^= 0x20
    with pytest.raises(FormatError, match="checksum"):
        read(bytes(changed))


def test_frames_before_a_damaged_one_are_given() -> None:
    given_out: list[Frame] = []
    with pytest.raises(FormatError, match="the checksum of a frame is wrong"):
        given_out.extend(FrameReader().feed(GOOD))
        for found in FrameReader().feed(GOOD + GOOD[:-1] + b"\x00"):
            given_out.append(found)
    assert len(given_out) == 2


def test_what_is_no_event_stream_is_refused_at_once() -> None:
    with pytest.raises(FormatError, match="the event stream is damaged"):
        read(b"<html>502 Bad Gateway</html>")


def checked(length: int, headers: int, body: bytes) -> bytes:
    """A frame of right checksums, whatever it holds."""
    prelude = struct.pack(">II", length, headers)
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + body
    return whole + struct.pack(">I", zlib.crc32(whole))


@pytest.mark.parametrize(
    ("length", "headers", "body"),
    [(15, 0, b""), (16, 1, b""), (0, 0, b""), (2**31, 2**30, b""), (200_000, 140_000, b"")],
)
def test_lengths_that_cannot_be_are_refused(length: int, headers: int, body: bytes) -> None:
    with pytest.raises(FormatError, match="bytes of headers"):
        read(checked(length, headers, body))


@pytest.mark.parametrize(
    "block",
    [
        b"\x05abc",
        b"\x01a",
        b"\x01a\x07\x00\x09abc",
        b"\x01a\x05\x00",
        b"\x01a\x09\x00",
        b"\x01\xff\x00",
        b"\x01a\x07\x00\x01\xff",
    ],
)
def test_headers_that_are_cut_or_no_text_are_refused(block: bytes) -> None:
    with pytest.raises(FormatError, match="the headers of a frame cannot be read"):
        read(checked(16 + len(block), len(block), block))


def test_a_header_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(FormatError, match="unknown type 10"):
        read(checked(19, 3, b"\x01a\x0a"))


def test_a_frame_or_a_stream_that_is_too_long_is_refused_before_it_is_kept() -> None:
    announced = checked(5_000_000, 0, b"")[:12]
    with pytest.raises(FormatError, match="an event of the streamed answer is longer than 4194304 bytes"):
        read(announced)
    with pytest.raises(FormatError, match="longer than 100 bytes"):
        read(GOOD * 3, meter=Meter(stream=100))
