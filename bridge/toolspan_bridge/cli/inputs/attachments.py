"""Files that go with a question: images, PDFs, sounds and texts, each told by its first bytes."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...formats.shared.conversation.media import PDF, media_type, sound_type
from ...messages import Part
from .piped import MAX_BYTES, as_text, stdin_bytes

STDIN = "-"
MAX_FILES = 20
MAX_FILE_BYTES = 20 * 1024 * 1024


def read_files(paths: Sequence[str]) -> tuple[Part, ...]:
    """An MCP content block for each file, ``-`` for stdin: an ``image``, ``audio``, or a ``resource`` with a
    ``blob`` (PDF) or a ``text``. Raises ``UsageError``."""
    if len(paths) > MAX_FILES:
        raise UsageError(f"{len(paths)} files are too many: at most {MAX_FILES} go with a question")
    if paths.count(STDIN) > 1:
        raise UsageError("--file - may stand once: stdin can be read only once")
    return tuple(_part(path) for path in paths)


def _part(path: str) -> Part:
    data = _bytes(path)
    name = "stdin" if path == STDIN else Path(path).name
    mime = media_type(data[:64]) or sound_type(data[:64])
    if not mime:
        return _text(data, path, name)
    encoded = base64.b64encode(data).decode("ascii")
    if mime in PDF:
        resource = {"uri": name, "mimeType": mime, "blob": encoded}
        return Part("resource", {"type": "resource", "resource": resource})
    kind = mime.partition("/")[0]
    return Part(kind, {"type": kind, "data": encoded, "mimeType": mime})


def _text(data: bytes, path: str, name: str) -> Part:
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"the text {path} is larger than {MAX_BYTES:,} bytes: pass a part of it, or let a tool read it "
            "(--workspace DIR)"
        )
    try:
        text = as_text(data, path)
    except UsageError:
        raise UsageError(
            f"{path} is no image (PNG, JPEG, GIF, WebP), PDF, sound (WAV, MP3, FLAC, Ogg, AIFF, AAC) or text "
            "(UTF-8): models take nothing else"
        ) from None
    return Part("resource", {"type": "resource", "resource": {"uri": name, "text": text}})


def _bytes(path: str) -> bytes:
    if path == STDIN:
        if sys.stdin.isatty():
            raise UsageError("--file - reads stdin, which is a terminal: pipe a file in, or name it")
        data = stdin_bytes(MAX_FILE_BYTES + 1)
    else:
        try:
            with Path(path).open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as fault:
            raise UsageError(f"the file {path} cannot be read: {fault.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"the file {path} is larger than {MAX_FILE_BYTES:,} bytes: make it smaller")
    if not data:
        raise UsageError(f"the file {path} is empty")
    return data
