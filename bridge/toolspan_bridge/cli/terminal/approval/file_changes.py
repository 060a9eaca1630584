"""What a call that writes a file would change in it."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from .notebook_changes import cell_change

_MAX_BYTES = 1024 * 1024


def file_diff(tool: str, arguments: Mapping[str, Any], base: Path) -> list[str] | None:
    """The lines of a unified diff of what a call of ``Write``, ``Edit`` or ``NotebookEdit`` would do, to a
    notebook that of its cell; paths begin at ``base``.

    ``None`` for other tools, and where the file is no text that can be read, ``old_string`` is not in it, or
    it has no such cell.
    """
    if tool == "NotebookEdit":
        return _notebook_diff(arguments, base)
    path = arguments.get("file_path")
    if tool not in ("Write", "Edit") or not isinstance(path, str):
        return None
    before = _text(base / path)
    after = _after(tool, arguments, before)
    if after is None:
        return None
    return _diff(path, before, after)


def _notebook_diff(arguments: Mapping[str, Any], base: Path) -> list[str] | None:
    path = arguments.get("notebook_path")
    text = _text(base / path) if isinstance(path, str) else None
    change = None if text is None else cell_change(text, arguments)
    if change is None:
        return None
    cell = arguments.get("cell_id")
    where = f"{path}, new cell" if change[0] is None else f"{path}, cell {cell}"
    return _diff(where, *change)


def _diff(name: str, before: str | None, after: str | None) -> list[str]:
    """The lines of a unified diff; ``None`` is no file, or no cell."""
    from difflib import unified_diff

    names = ("/dev/null" if before is None else name, "/dev/null" if after is None else name)
    return list(unified_diff((before or "").splitlines(), (after or "").splitlines(), *names, lineterm=""))


def _after(tool: str, arguments: Mapping[str, Any], before: str | None) -> str | None:
    if tool == "Write":
        return _plain(arguments.get("content"))
    edits: Any = arguments.get("edits", [arguments])
    after = before if isinstance(edits, list) else None
    for edit in cast("Any", edits) if after is not None else ():
        after = _edited(after, edit)
    return after


def _edited(text: str | None, edit: Any) -> str | None:
    if not isinstance(edit, Mapping):
        return None
    edit = cast("Mapping[str, Any]", edit)
    old, new = (_plain(edit.get(name)) for name in ("old_string", "new_string"))
    if text is None or old is None or new is None or old not in text:
        return None
    return text.replace(old, new, -1 if edit.get("replace_all") is True else 1)


def _plain(text: Any) -> str | None:
    """``text``, if it is one, with line feeds as the ends of its lines: an edit does not tell them apart."""
    return re.sub("\r\n?", "\n", text) if isinstance(text, str) else None


def _text(path: Path) -> str | None:
    """The text of a regular file with line feeds as ends of lines; ``None`` where there is none, or too much
    of it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_MAX_BYTES + 1)
    return _plain(_decoded(data)) if len(data) <= _MAX_BYTES else None


def _decoded(data: bytes) -> str | None:
    """The text that ``data`` is in UTF-8, in UTF-16 with a byte order mark, or else in Latin-1."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in data and not marked:
        return None
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "latin-1"):
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return None
