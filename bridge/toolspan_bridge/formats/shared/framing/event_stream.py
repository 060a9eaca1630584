"""Amazon's binary event stream, read from bytes in whatever pieces they come.

A frame is its length and its headers' length (four bytes each, big-endian), the CRC-32 of these eight, the
headers, the payload, and the CRC-32 of all before it. Source: AWS, "Event stream encoding" (Smithy 2.0
specification, ``application/vnd.amazon.eventstream``).
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..contract import FormatError
from .limits import Meter

__all__ = ["Frame", "FrameReader"]

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_SMALLEST = _PRELUDE.size + _CRC.size
_MAX_HEADER_BYTES = 128 * 1024
_NUMBERS = {2: struct.Struct(">b"), 3: struct.Struct(">h"), 4: struct.Struct(">i"), 5: struct.Struct(">q")}
_LENGTH = struct.Struct(">H")
_BYTES, _STRING, _TIMESTAMP, _UUID = 6, 7, 8, 9


@dataclass(frozen=True, slots=True)
class Frame:
    """One message. A header is a boolean, an integer (a timestamp is milliseconds since 1970), bytes,
    a string or a UUID."""

    headers: Mapping[str, Any]
    payload: bytes

    def header(self, name: str) -> str:
        """The header ``name`` when it is a string, else the empty one."""
        value = self.headers.get(name)
        return value if isinstance(value, str) else ""


class FrameReader:
    """Splits a stream into frames and verifies both checksums. Raises ``FormatError`` for invalid bytes, and
    where the stream, or one frame of it, is longer than ``meter`` allows.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Meter()
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """The number of bytes received of an incomplete frame."""
        return len(self._buffer)

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that ``chunk`` completes, each yielded before a later one is found to be invalid."""
        self._meter.stream(chunk)
        self._buffer += chunk
        while len(self._buffer) >= _PRELUDE.size:
            length, headers_length, crc = _PRELUDE.unpack_from(self._buffer)
            self._check(length, headers_length, crc)
            if len(self._buffer) < length:
                return
            whole = bytes(self._buffer[:length])
            del self._buffer[:length]
            yield _frame(whole, headers_length)

    def _check(self, length: int, headers_length: int, crc: int) -> None:
        if zlib.crc32(self._buffer[: _PRELUDE.size - _CRC.size]) != crc:
            raise FormatError("the event stream is damaged: the checksum of a frame's beginning is wrong")
        if length < _SMALLEST + headers_length or headers_length > _MAX_HEADER_BYTES:
            raise FormatError(f"a frame of {length} bytes cannot have {headers_length} bytes of headers")
        self._meter.event(length)


def _frame(whole: bytes, headers_length: int) -> Frame:
    (crc,) = _CRC.unpack_from(whole, len(whole) - _CRC.size)
    if zlib.crc32(whole[: -_CRC.size]) != crc:
        raise FormatError("the event stream is damaged: the checksum of a frame is wrong")
    end = _PRELUDE.size + headers_length
    try:
        headers = dict(_headers(whole[_PRELUDE.size : end]))
    except (struct.error, IndexError, UnicodeDecodeError):
        raise FormatError("the headers of a frame cannot be read") from None
    return Frame(headers, whole[end : -_CRC.size])


def _headers(block: bytes) -> Iterator[tuple[str, Any]]:
    place = 0
    while place < len(block):
        named = place + 1
        kind_at = named + block[place]
        value, place = _value(block, block[kind_at], kind_at + 1)
        yield block[named:kind_at].decode(), value


def _value(block: bytes, kind: int, place: int) -> tuple[Any, int]:
    """The value of the type ``kind`` at ``place``, and where the next header begins."""
    if kind in (0, 1):
        return kind == 0, place
    if number := _NUMBERS.get(kind):
        return number.unpack_from(block, place)[0], place + number.size
    if kind == _TIMESTAMP:
        return _NUMBERS[5].unpack_from(block, place)[0], place + 8
    if kind == _UUID:
        return uuid.UUID(bytes=_slice(block, place, 16)), place + 16
    if kind not in (_BYTES, _STRING):
        raise FormatError(f"a frame has a header of the unknown type {kind}")
    (length,) = _LENGTH.unpack_from(block, place)
    place += _LENGTH.size
    held = _slice(block, place, length)
    return held.decode() if kind == _STRING else held, place + length


def _slice(block: bytes, place: int, length: int) -> bytes:
    found = block[place : place + length]
    if len(found) < length:
        raise IndexError(place)
    return found
