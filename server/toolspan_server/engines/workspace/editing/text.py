"""Text of files: how its bytes are encoded, and how they are when it is written back."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

Newline = Literal["\n", "\r\n", "\r"]

_SAMPLE = 65_536
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - {*b"\t\n\f\r\x08\x1b"})
_MOST_CONTROLS = 0.02


class NotText(ValueError):
    """Bytes that are no text in any encoding that is known here."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's text is encoded: Python's ``codec``, after the byte order mark ``bom``."""

    codec: str = "utf-8"
    bom: bytes = b""

    def decoded(self, data: bytes) -> str:
        """The text of ``data``, a whole file. Raises ``NotText``."""
        try:
            return data[len(self.bom) :].decode(self.codec)
        except UnicodeDecodeError as error:
            raise NotText(f"byte {error.start + len(self.bom):,} is no {self.codec}") from None

    def encoded(self, text: str) -> bytes:
        """The bytes of ``text``, a whole file. Raises ``NotText`` when the encoding lacks a character."""
        try:
            return self.bom + text.encode(self.codec)
        except UnicodeEncodeError as error:
            raise NotText(f"{text[error.start]!r} cannot be written in {self.codec}") from None


def encoding_of(data: bytes, *, whole: bool = True) -> Encoding:
    """The encoding of a file that starts with ``data``, or is that as a ``whole``.

    A byte order mark decides; else it is UTF-8, and Latin-1 where it is not. UTF-16 without a mark is
    recognised by its zeros. Raises ``NotText`` for what looks like no text.
    """
    for bom, codec in _BOMS:
        if data.startswith(bom):
            return Encoding(codec, bom)
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        return _without_mark(sample)
    if len(sample) - len(sample.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(sample):
        raise NotText("it holds control characters")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data, final=whole)
    except UnicodeDecodeError:
        return Encoding("latin-1")
    return Encoding()


def newline_of(text: str) -> Newline:
    """The end of line that most lines of ``text`` have; a line feed where there is none."""
    windows = text.count("\r\n")
    counts: dict[Newline, int] = {
        "\n": text.count("\n") - windows,
        "\r\n": windows,
        "\r": text.count("\r") - windows,
    }
    return max(counts, key=lambda each: counts[each])


def with_newline(text: str, newline: Newline) -> str:
    """``text`` with each end of line written as ``newline``."""
    plain = re.sub("\r\n?", "\n", text)
    return plain if newline == "\n" else plain.replace("\n", newline)


def _without_mark(sample: bytes) -> Encoding:
    """UTF-16 without a byte order mark: most of its text is ASCII, so that every other byte is zero."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    for codec, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if half and zeros > 0.6 * half and others < 0.1 * half:
            return Encoding(codec)
    raise NotText("it holds NUL bytes")
