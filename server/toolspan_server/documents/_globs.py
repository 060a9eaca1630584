"""Globs over relative paths.

``*`` and ``?`` stay within one name, ``[…]`` is a set, ``**`` is any number of folders. A pattern
matches the whole path from the collection's folder on (``*.md`` is the top folder only), upper and
lower case being equal. A pattern that matches a folder matches nothing in it, unless it excludes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache

ALWAYS_EXCLUDED = frozenset({".git", ".hg", ".svn", ".toolspan", ".venv", "__pycache__", "node_modules"})
"""Folders that never belong to a collection, wherever they are."""

_Part = re.Pattern[str] | None


class Selection:
    """Which relative paths (``/`` between names) belong to a collection."""

    def __init__(self, include: Iterable[str], exclude: Iterable[str] = ()) -> None:
        self._include = [_parts(pattern) for pattern in include]
        self._exclude = [_parts(pattern) for pattern in exclude]

    def excludes(self, path: str) -> bool:
        """Whether ``path``, a file or folder whose parents are not excluded, is left out."""
        names = path.split("/")
        return names[-1] in ALWAYS_EXCLUDED or any(_matches(parts, names) for parts in self._exclude)

    def selects(self, path: str) -> bool:
        """Whether the file ``path``, whose parents are not excluded, belongs to the collection."""
        names = path.split("/")
        return any(_matches(parts, names) for parts in self._include) and not self.excludes(path)

    def reaches(self, path: str) -> bool:
        """Whether neither ``path`` nor a folder above it is excluded."""
        names = path.split("/")
        return not any(self.excludes("/".join(names[:end])) for end in range(1, len(names) + 1))


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[_Part, ...]:
    names = [name for name in pattern.replace("\\", "/").split("/") if name not in {"", "."}]
    return tuple(None if name == "**" else re.compile(translate(name), re.IGNORECASE) for name in names)


def _matches(parts: tuple[_Part, ...], names: list[str]) -> bool:
    """Whether all ``names`` are matched: ``reached[n]`` says that the parts so far can take the first n."""
    reached = [True] + [False] * len(names)
    for part in parts:
        if part is None:
            first = reached.index(True) if True in reached else len(reached)
            reached = [index >= first for index in range(len(reached))]
        else:
            taken = (
                before and part.match(name) is not None for before, name in zip(reached, names, strict=False)
            )
            reached = [False, *taken]
    return reached[-1]
