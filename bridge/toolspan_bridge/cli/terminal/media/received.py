"""Files within what a tool, or a model, gave: each named by what its bytes are, whatever it is said to be."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ....formats.shared.conversation.media import IMAGES, media_type, sound_type
from ....messages import Part, ToolOutcome
from .pictures import Size, picture_size

__all__ = ["MAX_BYTES", "MAX_PIXELS", "Received", "files_of", "images_in", "result_text"]

MAX_BYTES = 20 * 1024 * 1024
"""The largest file that is taken."""
MAX_PIXELS = 40_000_000
_MAX_SIDE = 16_384

_SUFFIXES = {
    "application/pdf": ".pdf",
    "audio/aac": ".aac",
    "audio/aiff": ".aiff",
    "audio/flac": ".flac",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
}
_OTHER_NAMES = {
    "audio/mp3": "audio/mpeg",
    "audio/x-aiff": "audio/aiff",
    "audio/x-flac": "audio/flac",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "image/jpg": "image/jpeg",
}
_IN_MARKDOWN = re.compile(r"!\[[^\[\]\n]*\]\((data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)")


@dataclass(frozen=True, slots=True)
class Received:
    """A file. ``mime`` is what its first bytes say, empty for what is not known; ``claimed`` what it came as.
    ``size`` are the pixels of a picture that may be shown: it is what it came as, whole, and not larger than
    any that a person would look at."""

    data: bytes
    mime: str
    claimed: str
    size: Size | None = None

    @property
    def suffix(self) -> str:
        """The end of a file's name for it; ``.bin`` for what is not known, which no program opens by it."""
        return _SUFFIXES.get(self.mime, ".bin")

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.size is not None:
            return f"{self.mime}, {self.size[0]}×{self.size[1]}"
        if self.claimed and not _is_same(self.claimed, self.mime):
            return f"{self.mime}, said to be {self.claimed}" if self.mime else f"said to be {self.claimed}"
        return (
            f"{self.mime}, damaged or too large to be shown" if self.mime in IMAGES else self.mime or "a file"
        )


def files_of(outcome: ToolOutcome) -> list[Received | str]:
    """The files of ``outcome``; instead of one that is no Base64, or too large, a sentence about it."""
    return [_received(encoded, claimed) for encoded, claimed in _encoded(outcome.parts)]


def images_in(markdown: str) -> list[Received | str]:
    """The same of the images that a text holds itself, as ``![…](data:image/png;base64,…)``."""
    found = (address[1].partition(";base64,") for address in _IN_MARKDOWN.finditer(markdown))
    return [_received(encoded, head.removeprefix("data:")) for head, _, encoded in found]


def result_text(outcome: ToolOutcome) -> str | None:
    """What ``outcome`` says besides its files; ``None`` where its result has none in it."""
    if outcome.failed or not isinstance(outcome.result.get("result"), list):
        return None
    if outcome.structured is not None or not any(True for _ in _encoded(outcome.parts)):
        return None
    return "\n".join(filter(None, map(_text, outcome.parts)))


def _text(part: Part) -> str:
    inner = _inner(part)
    if part.type == "text" or "text" in inner:
        return str(inner.get("text", ""))
    if part.type == "resource_link":
        return " ".join(str(inner[key]) for key in ("name", "uri") if inner.get(key))
    return ""


def _encoded(parts: Iterable[Part]) -> Iterator[tuple[object, str]]:
    """The Base64 of each file, and what it is said to be."""
    for part in parts:
        inner = _inner(part)
        if part.type in ("image", "audio"):
            yield inner.get("data"), str(inner.get("mimeType") or "")
        elif part.type == "resource" and "blob" in inner:
            yield inner["blob"], str(inner.get("mimeType") or "")


def _inner(part: Part) -> Mapping[str, Any]:
    inner: object = part.data.get("resource") if part.type == "resource" else part.data
    return cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else {}


def _received(encoded: object, claimed: str) -> Received | str:
    if not isinstance(encoded, str):
        return "a file without content"
    if len(encoded) > MAX_BYTES * 4 // 3 + 4:
        return f"a file of more than {MAX_BYTES // (1024 * 1024)} MiB"
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return "a file that is no Base64"
    claimed = claimed.partition(";")[0].strip()[:80]
    mime = media_type(data[:64]) or sound_type(data[:64])
    size = _shown_size(mime, data) if not claimed or _is_same(claimed, mime) else None
    return Received(data, mime, claimed, size)


def _is_same(claimed: str, mime: str) -> bool:
    return _OTHER_NAMES.get(claimed.lower(), claimed.lower()) == mime


def _shown_size(mime: str, data: bytes) -> Size | None:
    size = picture_size(mime, data)
    if size is None or max(size) > _MAX_SIDE or size[0] * size[1] > MAX_PIXELS:
        return None
    return size
