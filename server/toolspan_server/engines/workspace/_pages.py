"""Pages of a text file: some of its lines, found without reading the rest of the file."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import ToolFailure
from ._limits import WorkspaceLimits
from .editing.text import Encoding, NotText, encoding_of
from .opening.errors import too_large
from .opening.files import OpenFile

_CHUNK = 1_048_576
_SAMPLE = 65_536
_BYTES_A_CHARACTER = 4


@dataclass(slots=True)
class Page:
    """Lines of a file: ``lines`` without their ends, the first being number ``first``.

    ``more``: others follow. ``cut`` are the numbers of the lines that are not whole.
    """

    encoding: Encoding
    first: int
    lines: list[str] = field(default_factory=list[str])
    cut: list[int] = field(default_factory=list[int])
    more: bool = False


def page_of(file: OpenFile, limits: WorkspaceLimits, offset: int, limit: int | None) -> Page:
    """At most ``limit`` lines of ``file`` from line ``offset`` on, 1 being the first, within ``limits``.

    Raises ``ToolFailure`` when the file is no text (``binary_file``), when it has no such line
    (``offset_out_of_range``), and when that is too far away (``too_large``).
    """
    sample = file.read(0, _SAMPLE)
    try:
        encoding = encoding_of(sample, whole=file.size <= len(sample))
        most = min(limit or limits.read_lines, limits.read_lines)
        if encoding.codec.startswith(("utf-16", "utf-32")):
            return _of_whole(file, limits, encoding, offset, most)
        return _of_bytes(file, limits, encoding, sample, offset, most)
    except NotText as fault:
        raise binary(file, str(fault)) from None


def binary(file: OpenFile, why: str) -> ToolFailure:
    """The failure of a file that is no text."""
    return ToolFailure(
        f"{file.place.shown} is no text: {why} (a file of {file.size:,} bytes)",
        error_code="binary_file",
        user_action="Use a program that knows this sort of file.",
    )


def whole_text(file: OpenFile, limits: WorkspaceLimits) -> tuple[str, Encoding]:
    """The text of ``file`` and its encoding. Raises ``ToolFailure``: ``too_large``, ``binary_file``."""
    data = whole(file, limits)
    try:
        encoding = encoding_of(data)
        return encoding.decoded(data), encoding
    except NotText as fault:
        raise binary(file, str(fault)) from None


def whole(file: OpenFile, limits: WorkspaceLimits) -> bytes:
    """The content of ``file``. Raises ``ToolFailure`` when that is more than ``limits.file_bytes``."""
    data = file.read(0, limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise too_large(file.place.path, max(file.size, len(data)), "limits.file_bytes", limits.file_bytes)
    return data


def _of_whole(file: OpenFile, limits: WorkspaceLimits, encoding: Encoding, offset: int, most: int) -> Page:
    lines = encoding.decoded(whole(file, limits)).splitlines()
    if offset > max(len(lines), 1):
        raise _beyond(file, offset, len(lines))
    page = Page(encoding, offset)
    room = limits.read_bytes
    for number, line in enumerate(lines[offset - 1 :], offset):
        shown = line[: limits.line_characters]
        if len(page.lines) == most or (page.lines and len(shown) > room):
            page.more = True
            break
        room -= len(shown)
        page.lines.append(shown)
        if shown != line:
            page.cut.append(number)
    return page


def _of_bytes(
    file: OpenFile, limits: WorkspaceLimits, encoding: Encoding, sample: bytes, offset: int, most: int
) -> Page:
    end = b"\r" if b"\r" in sample and b"\n" not in sample else b"\n"
    reader = _Reader(file, limits.scan_bytes, len(encoding.bom), end)
    page = Page(encoding, offset)
    skipped = reader.skip(offset - 1)
    if skipped < offset - 1 or (offset > 1 and reader.is_over):
        raise _beyond(file, offset, skipped)
    keep, room = limits.line_characters * _BYTES_A_CHARACTER, limits.read_bytes
    while not reader.is_over:
        if len(page.lines) == most:
            page.more = True
            break
        data, is_whole = reader.line(keep)
        text = data.removesuffix(b"\r").decode(encoding.codec, "replace")
        shown = text[: limits.line_characters]
        if page.lines and len(shown) > room:
            page.more = True
            break
        room -= len(shown)
        page.lines.append(shown)
        if not is_whole or shown != text:
            page.cut.append(offset + len(page.lines) - 1)
    return page


def _beyond(file: OpenFile, offset: int, lines: int) -> ToolFailure:
    return ToolFailure(
        f"{file.place.shown} has {lines:,} lines: there is no line {offset:,}",
        error_code="offset_out_of_range",
        user_action="Use a smaller offset.",
    )


class _Reader:
    """The lines of a file from ``position`` on; at most ``budget`` bytes are read. ``end`` ends a line."""

    def __init__(self, file: OpenFile, budget: int, position: int, end: bytes) -> None:
        self._file = file
        self._budget = self._left = budget
        self._position = position
        self._end = end
        self._chunk = b""
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether the file has no further byte."""
        return self._at >= len(self._chunk) and not self._more()

    def skip(self, count: int) -> int:
        """Pass over ``count`` lines; how many there were."""
        left = count
        while left and not self.is_over:
            ends = self._chunk.count(self._end, self._at)
            if ends < left:
                left -= ends
                is_open = not self._chunk.endswith(self._end)
                self._at = len(self._chunk)
                if is_open and self.is_over:
                    left -= 1
            else:
                for _ in range(left):
                    self._at = self._chunk.index(self._end, self._at) + 1
                left = 0
        return count - left

    def line(self, keep: int) -> tuple[bytes, bool]:
        """The first ``keep`` bytes of the next line, without its end, and whether that is all of it."""
        pieces: list[bytes] = []
        kept = length = 0
        while not self.is_over:
            found = self._chunk.find(self._end, self._at)
            stop = len(self._chunk) if found < 0 else found
            pieces.append(self._chunk[self._at : min(stop, self._at + keep - kept)])
            kept += len(pieces[-1])
            length += stop - self._at
            self._at = stop + (found >= 0)
            if found >= 0:
                break
        return b"".join(pieces), kept == length

    def _more(self) -> bool:
        if self._left <= 0:
            raise too_large(self._file.place.path, self._file.size, "limits.scan_bytes", self._budget)
        self._chunk = self._file.read(self._position, min(_CHUNK, self._left))
        self._at = 0
        self._position += len(self._chunk)
        self._left -= len(self._chunk)
        return bool(self._chunk)
