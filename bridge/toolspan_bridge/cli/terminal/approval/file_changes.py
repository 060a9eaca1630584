"""What a call that writes a file would change in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_MAX_BYTES = 1024 * 1024


def file_diff(tool: str, arguments: Mapping[str, Any], base: Path) -> list[str] | None:
    """The lines of a unified diff of what a call of ``Write`` or ``Edit`` would do; paths begin at ``base``.

    ``None`` for other tools, and where the file is no text that can be read or ``old_string`` is not in it.
    """
    path = arguments.get("file_path")
    if tool not in ("Write", "Edit") or not isinstance(path, str):
        return None
    before = _text(base / path)
    after = _after(tool, arguments, before)
    if after is None:
        return None
    names = ("/dev/null" if before is None else path, path)
    from difflib import unified_diff

    return list(unified_diff((before or "").splitlines(), after.splitlines(), *names, lineterm=""))


def _after(tool: str, arguments: Mapping[str, Any], before: str | None) -> str | None:
    if tool == "Write":
        content = arguments.get("content")
        return content if isinstance(content, str) else None
    old, new = arguments.get("old_string"), arguments.get("new_string")
    if before is None or not isinstance(old, str) or not isinstance(new, str) or old not in before:
        return None
    return before.replace(old, new, -1 if arguments.get("replace_all") is True else 1)


def _text(path: Path) -> str | None:
    """The text of a regular file; ``None`` where there is none, or too much of it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_MAX_BYTES + 1)
    try:
        return data.decode() if len(data) <= _MAX_BYTES else None
    except UnicodeDecodeError:
        return None
