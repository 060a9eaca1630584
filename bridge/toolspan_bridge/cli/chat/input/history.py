"""The lines of earlier chats, in a file of the user's alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from prompt_toolkit.history import History
from typing_extensions import override

from toolspan_server.common.state.private_files import open_private

from ....files.replacement import replace_file
from .pastes import Pastes

__all__ = ["FILE", "LineHistory"]

FILE = "chat-lines.jsonl"
_MOST_LINES = 1_000
_MOST_BYTES = 2 * 1024 * 1024
_LONGEST = 256 * 1024
_LOCK_SECONDS = 2


class LineHistory(History):
    """The lines of ``path``, the last one first: ``{"line", "pasted": {"[pasted …]": text}}``, one a line of
    the file. Its last 1,000 lines, of 2 MiB together, are kept; a line of more than 256 KiB is not.

    Without a ``path`` lines are kept in this process alone. The first fault is given to ``report``.
    """

    def __init__(self, path: Path | None, pastes: Pastes, report: Callable[[str], None]) -> None:
        super().__init__()
        self._path = path
        self._pastes = pastes
        self._report = report

    @override
    def load_history_strings(self) -> Iterable[str]:
        """The lines of the file, as they are shown."""
        return [self._pastes.refolded(line, pasted) for line, pasted in reversed(self._read())]

    @override
    def store_string(self, string: str) -> None:
        """Add a line to the file."""
        entry = json.dumps({"line": string, "pasted": self._pastes.within(string)}) + "\n"
        if self._path is None or len(entry) > _LONGEST:
            return
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600):
                self._append(self._path, entry.encode())
        except (OSError, Timeout) as fault:
            self._report(f"the lines of the chat are not kept any further in {self._path}: {fault}")
            self._path = None

    def _append(self, path: Path, entry: bytes) -> None:
        descriptor = open_private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with os.fdopen(descriptor, "ab") as file:
            file.write(entry)
            size = file.tell()
        if size > _MOST_BYTES:
            self._shorten(path)

    def _shorten(self, path: Path) -> None:
        """Leave the last half of what may be kept."""
        kept: list[bytes] = []
        size = 0
        for line in reversed(path.read_bytes().splitlines(keepends=True)):
            size += len(line)
            if size > _MOST_BYTES // 2 or len(kept) >= _MOST_LINES:
                break
            kept.append(line)
        replace_file(path, b"".join(reversed(kept)))

    def _read(self) -> list[tuple[str, dict[str, str]]]:
        try:
            lines = b"" if self._path is None else self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as fault:
            self._report(f"the lines of earlier chats in {self._path} cannot be read: {fault.strerror}")
            return []
        found = (_entry(line) for line in lines.splitlines()[-_MOST_LINES:])
        return [entry for entry in found if entry is not None]


def _entry(line: bytes) -> tuple[str, dict[str, str]] | None:
    """A line of the file; ``None`` for one that is damaged."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    entry = cast("dict[str, Any]", value)
    text, pasted = entry.get("line"), entry.get("pasted", {})
    if not isinstance(text, str) or not isinstance(pasted, dict):
        return None
    texts = cast("dict[str, Any]", pasted)
    return text, {name: each for name, each in texts.items() if isinstance(each, str)}
