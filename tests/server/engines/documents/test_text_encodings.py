"""Bytes to text: marks, line ends, and what is no text."""

from __future__ import annotations

import codecs
from threading import Event

import pytest

from toolspan_server.engines.documents._document import UnreadableFile
from toolspan_server.engines.documents._readers import read_document

pytestmark = pytest.mark.requirement("I2.4.3")

TEXT = "Grüße\nZweite Zeile"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
    ],
)
def test_every_usual_encoding_and_line_end_is_read(data: bytes) -> None:
    (section,) = read_document("notes.txt", data, Event()).sections
    assert section.text == TEXT


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("Grüße".encode("latin-1"), "not UTF-8 text"),
        (b"\x7fELF\x00\x00\x01", "binary content"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8", "not UTF-16-LE text"),
    ],
)
def test_what_is_no_text_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        read_document("notes.txt", data, Event())


def test_control_characters_are_spaces() -> None:
    (section,) = read_document("notes.txt", b"a\x1b[31mb\x02c\x0cd", Event()).sections
    assert section.text == "a [31mb c\nd"


def test_an_empty_file_has_no_sections() -> None:
    assert read_document("notes.txt", b"", Event()).sections == ()


def test_an_unknown_suffix_is_plain_text() -> None:
    (section,) = read_document("Makefile", b"# not a heading\n", Event()).sections
    assert section.headings == ()
