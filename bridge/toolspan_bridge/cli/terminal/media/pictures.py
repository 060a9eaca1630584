"""The size of a picture, by the head of its file; of a PNG the whole file is looked through."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping

__all__ = ["Size", "picture_size"]

Size = tuple[int, int]

_PNG_HEAD = 8
_CHUNK_FRAME = 12
"""The bytes of a chunk of PNG beside its data: length, name, checksum."""
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_VP8_KEY_FRAME = b"\x9d\x01\x2a"


def picture_size(mime: str, data: bytes) -> Size | None:
    """Width and height in pixels of ``data``, a PNG, JPEG, GIF or WebP as ``mime`` says; ``None`` for what is
    no such picture, or a broken one."""
    read = _READERS.get(mime)
    try:
        size = None if read is None else read(data)
    except IndexError:
        return None
    return size if size is not None and all(size) else None


def _png(data: bytes) -> Size | None:
    """Of a PNG whose chunks are all there, with right checksums, up to an end that nothing follows."""
    found = list(_chunks(data))
    if not found or found[0][0] != b"IHDR" or len(found[0][1]) != 13 or found[-1] != (b"IEND", b""):
        return None
    if not any(name == b"IDAT" for name, _ in found):
        return None
    head = found[0][1]
    return int.from_bytes(head[:4]), int.from_bytes(head[4:8])


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks with their names; a last one without a name where the file is damaged or goes on."""
    place, name = _PNG_HEAD, b""
    while place < len(data) and name != b"IEND":
        length = int.from_bytes(data[place : place + 4])
        end = place + _CHUNK_FRAME + length
        named = data[place + 4 : end - 4]
        if end > len(data) or zlib.crc32(named) != int.from_bytes(data[end - 4 : end]):
            yield b"", b""
            return
        name, place = named[:4], end
        yield name, named[4:]
    if place != len(data):
        yield b"", b""


def _gif(data: bytes) -> Size | None:
    if len(data) < 13:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> Size | None:
    place = 2
    while data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF or marker in _JPEG_ALONE:
            place += 1 if marker == 0xFF else 2
            continue
        if marker in _JPEG_FRAMES:
            height, width = data[place + 5 : place + 7], data[place + 7 : place + 9]
            return (int.from_bytes(width), int.from_bytes(height)) if len(width) == 2 else None
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
    return None


def _webp(data: bytes) -> Size | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == _VP8_KEY_FRAME:
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


_READERS: Mapping[str, Callable[[bytes], Size | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
