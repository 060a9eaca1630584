"""Bytes to text, strictly."""

from __future__ import annotations

import codecs

from .._document import UnreadableFile

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = {code: " " for code in (*range(32), 127) if chr(code) not in "\n\t"} | {12: "\n"}


def decode(data: bytes) -> str:
    """The text of ``data``: by its byte order mark, else UTF-8. Lines end in ``\\n``; no control characters.

    Raises ``UnreadableFile`` for anything else.
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"not {encoding.upper()} text (byte {error.start + len(mark)})") from None
    if "\0" in text:
        raise UnreadableFile("binary content")
    return without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


def without_controls(text: str) -> str:
    """``text`` with control characters as spaces; a form feed ends a line."""
    return text.translate(_CONTROLS)
