"""Files that a person names in a question: ``@notes.md``, ``@"my notes.md"``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import UsageError
from ...messages import Part
from ...sessions.approving import files_base
from ...sessions.session import Session
from ..inputs.attachments import read_files
from ..terminal.output import print_note
from ..terminal.questions.one_question import agreed_here, has_terminal

__all__ = ["named_files"]

_NAMED = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"]+))')
_AFTER = ",.;:!?)]}'"
_PATH_SIGNS = re.compile(r"[/.]")


async def named_files(line: str, session: Session) -> tuple[Part, ...]:
    """The files that ``line`` names, as MCP content blocks; stderr says which.

    One outside of the workspace (of the folder of the config, where there is none) is attached once the
    person agrees. What names no file stays words of the question, and that is said of what looks like a path.
    Raises ``UsageError`` for a folder, for what no model takes, and for a no.
    """
    base = files_base(session).resolve()
    paths: list[Path] = []
    for written in _written(line, session):
        path = _path(base, written)
        if path is None:
            if _PATH_SIGNS.search(written):
                print_note(f"@{written} is no file in {base}: it is sent as it is written")
            continue
        if path.is_dir():
            raise UsageError(f"@{written} is a folder: name a file in it")
        await _check_inside(base, path, written)
        if path not in paths:
            paths.append(path)
    parts = read_files([str(path) for path in paths])
    if paths:
        print_note(f"attached: {', '.join(path.name for path in paths)}")
    return parts


def _written(line: str, session: Session) -> Iterator[str]:
    servers = session.toolbox.contents.servers
    for match in _NAMED.finditer(line):
        written = match[1] or match[2]
        if written.partition(":")[0] not in servers or ":" not in written:
            yield written


def _path(base: Path, written: str) -> Path | None:
    """The file or folder that is meant, perhaps with what ends a sentence after it."""
    for name in (written, written.rstrip(_AFTER)):
        try:
            found = base / Path(name).expanduser()
            if name and found.exists():
                return found.resolve()
        except (OSError, ValueError, RuntimeError):
            continue  # too long, a NUL, or the home of nobody: no name of a file
    return None


async def _check_inside(base: Path, path: Path, written: str) -> None:
    if path.is_relative_to(base):
        return
    if not has_terminal():
        raise UsageError(
            f"@{written} is outside of {base}, and nobody can be asked here: pass --workspace DIR"
        )
    if not await agreed_here(f"{path} is outside of {base}. Send it to the model?"):
        raise UsageError(f"@{written} was not sent, and neither was the question")
