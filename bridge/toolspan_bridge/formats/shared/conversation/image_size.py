"""The width and height of an image, from its first bytes."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["image_size"]

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG's markers of a frame, not of its tables


def image_size(data: bytes) -> tuple[int, int] | None:
    """In pixels, of a PNG, GIF, WebP or JPEG; ``None`` where it cannot be read."""
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith(b"GIF8") and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data.startswith(b"RIFF") and len(data) >= 30:
        return _webp(data)
    if data.startswith(b"\xff\xd8"):
        return next(_jpeg(data), None)
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> Iterator[tuple[int, int]]:
    """The size in the frame's header, behind segments that each say how long they are."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in _FRAMES:
            yield int.from_bytes(data[place + 7 : place + 9]), int.from_bytes(data[place + 5 : place + 7])
            return
        place += 2 + int.from_bytes(data[place + 2 : place + 4])
