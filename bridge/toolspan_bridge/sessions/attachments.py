"""What goes with a question beside its text: images, PDFs, sounds and texts, each told by its first bytes."""

from __future__ import annotations

import base64
import codecs

from ..errors import UsageError
from ..formats.shared.conversation.media import PDF, media_type, sound_type
from ..messages import Part

MAX_FILES = 20
MAX_FILE_BYTES = 20 * 1024 * 1024
MAX_TEXT_BYTES = 1_048_576
"""The most bytes of a text."""


def file_part(data: bytes, name: str, shown: str = "") -> Part:
    """An MCP content block of ``data``: an ``image``, ``audio``, or a ``resource`` with a ``blob`` (PDF) or a
    ``text``. ``shown`` is what messages call it, where that is not ``name``. Raises ``UsageError``."""
    mime = media_type(data[:64]) or sound_type(data[:64])
    if not mime:
        return _text(data, name, shown or name)
    encoded = base64.b64encode(data).decode("ascii")
    if mime in PDF:
        resource = {"uri": name, "mimeType": mime, "blob": encoded}
        return Part("resource", {"type": "resource", "resource": resource})
    kind = mime.partition("/")[0]
    return Part(kind, {"type": kind, "data": encoded, "mimeType": mime})


def as_text(data: bytes, origin: str, hint: str = "") -> str:
    """``data`` as text: UTF-8, or UTF-16 with its mark. Raises ``UsageError`` for anything else, which ends
    with ``hint``."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"{origin} is no text (UTF-8){hint}")
    return text.replace("\r\n", "\n")


def _text(data: bytes, name: str, shown: str) -> Part:
    if len(data) > MAX_TEXT_BYTES:
        raise UsageError(
            f"the text {shown} is larger than {MAX_TEXT_BYTES:,} bytes: pass a part of it, or let a tool "
            "read it (--workspace DIR)"
        )
    try:
        text = as_text(data, shown)
    except UsageError:
        raise UsageError(
            f"{shown} is no image (PNG, JPEG, GIF, WebP), PDF, sound (WAV, MP3, FLAC, Ogg, AIFF, AAC) or "
            "text (UTF-8): models take nothing else"
        ) from None
    return Part("resource", {"type": "resource", "resource": {"uri": name, "text": text}})
