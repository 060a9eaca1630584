"""Names of files for ``@file``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

__all__ = ["file_words"]


def file_words(base: Path, word: str, most: int) -> list[str]:
    """What ``word`` (``@src/ma``, or ``@"my fi``) may be the beginning of: at most so many files and folders,
    in ``base`` where the path is no absolute one. Hidden ones only when their dot is typed."""
    typed = word[1:].removeprefix('"')
    folder, _, start = typed.rpartition("/")
    head = f"{folder}/" if "/" in typed else ""
    found = sorted(islice(_names(base / Path(head).expanduser(), start), most))
    return [_written(f"{head}{name}", is_quoted=word.startswith('@"')) for name in found]


def _names(folder: Path, start: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(start) and (start or not entry.name.startswith(".")):
                    yield entry.name + ("/" if entry.is_dir() else "")
    except OSError:
        return  # no folder that can be read has nothing to propose


def _written(path: str, *, is_quoted: bool) -> str:
    if not is_quoted and " " not in path:
        return f"@{path}"
    return f'@"{path}' + ("" if path.endswith("/") else '"')
