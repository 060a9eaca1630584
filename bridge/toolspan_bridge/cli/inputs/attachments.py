"""Files that go with a question: images, PDFs, sounds and texts, each told by its first bytes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ...messages import Part
from ...sessions.attachments import MAX_FILE_BYTES, MAX_FILES, file_part
from .piped import stdin_bytes

STDIN = "-"


def read_files(paths: Sequence[str]) -> tuple[Part, ...]:
    """An MCP content block for each file, ``-`` for stdin: an ``image``, ``audio``, or a ``resource`` with a
    ``blob`` (PDF) or a ``text``. Raises ``UsageError``."""
    if len(paths) > MAX_FILES:
        raise UsageError(f"{len(paths)} files are too many: at most {MAX_FILES} go with a question")
    if paths.count(STDIN) > 1:
        raise UsageError("--file - may stand once: stdin can be read only once")
    return tuple(_part(path) for path in paths)


def _part(path: str) -> Part:
    return file_part(_bytes(path), "stdin" if path == STDIN else Path(path).name, path)


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
