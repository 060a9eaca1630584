"""Globs over relative paths.

``*`` and ``?`` stay within one name, ``[…]`` is a set, ``**`` is any number of folders. A pattern
matches the whole path from the collection's folder on (``*.md`` is the top folder only), upper and
lower case being equal. A pattern that matches a folder matches nothing in it, unless it excludes.

Wildcards select no name that starts with a dot, as in a shell, and no file that holds keys by its name,
such as ``server.pem`` or ``id_rsa``: a pattern that selects them names them, as ``.github/**``, ``**/.env``
or ``*.pem`` do. What excludes matches them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

ALWAYS_EXCLUDED = frozenset({".git", ".hg", ".svn", ".toolspan", ".venv", "__pycache__", "node_modules"})
"""Folders that never belong to a collection, wherever they are."""

KEY_SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate")
KEY_NAMES = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", "credentials.json", "htpasswd", "netrc"}
)
"""Files that hold keys or passwords, by how they are called."""


class _Name(NamedTuple):
    """How a pattern matches one name."""

    text: str
    pattern: re.Pattern[str]

    def matches(self, name: str) -> bool:
        return self.pattern.match(name) is not None

    def names(self, name: str) -> bool:
        """Whether it says more of a hidden ``name``, or one of keys, than wildcards do."""
        if name.startswith("."):
            return self.text.startswith(".")
        if not _holds_keys(name) or not _WILD.search(self.text):
            return True
        return self.text.lower().endswith(tuple(end for end in KEY_SUFFIXES if name.lower().endswith(end)))


_WILD = re.compile(r"[*?[]")
_Part = _Name | None


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
        is_named = any(_matches(parts, names, by_name=True) for parts in self._include)
        return is_named and not self.excludes(path)

    def withholds(self, path: str) -> bool:
        """Whether the file ``path`` is left out only for being hidden, or for holding keys."""
        names = path.split("/")
        is_matched = any(_matches(parts, names) for parts in self._include)
        return is_matched and not self.selects(path) and not self.excludes(path)

    def enters(self, path: str) -> bool:
        """Whether there may be files of the collection in the folder ``path``, whose parents have some."""
        name = path.rpartition("/")[2]
        if self.excludes(path):
            return False
        return not name.startswith(".") or any(
            part is not None and part.names(name) and part.matches(name)
            for parts in self._include
            for part in parts
        )

    def reaches(self, path: str) -> bool:
        """Whether neither ``path`` nor a folder above it is excluded."""
        names = path.split("/")
        return not any(self.excludes("/".join(names[:end])) for end in range(1, len(names) + 1))


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[_Part, ...]:
    names = [name for name in pattern.replace("\\", "/").split("/") if name not in {"", "."}]
    return tuple(
        None if name == "**" else _Name(name, re.compile(translate(name), re.IGNORECASE)) for name in names
    )


def _matches(parts: tuple[_Part, ...], names: list[str], *, by_name: bool = False) -> bool:
    """Whether all ``names`` are matched: ``reached[n]`` says that the parts so far can take the first n.

    With ``by_name`` those that are hidden or hold keys are matched only by parts that name them.
    """
    reached = [True] + [False] * len(names)
    for part in parts:
        if part is None:
            reached = _passed(reached, names, by_name)
        else:
            taken = (
                before and part.matches(name) and (not by_name or part.names(name))
                for before, name in zip(reached, names, strict=False)
            )
            reached = [False, *taken]
    return reached[-1]


def _passed(reached: list[bool], names: list[str], by_name: bool) -> list[bool]:
    """What ``**`` makes of ``reached``: it takes any names; ``by_name``, only those of folders and files that
    are neither hidden nor, at the end, hold keys."""
    passed = reached[:1]
    for index, name in enumerate(names):
        is_open = not by_name or not (name.startswith(".") or (index == len(names) - 1 and _holds_keys(name)))
        passed.append(reached[index + 1] or (passed[index] and is_open))
    return passed


def _holds_keys(name: str) -> bool:
    return name.lower() in KEY_NAMES or name.lower().endswith(KEY_SUFFIXES)
