"""Paths as tools get them, and the places in the workspace that they mean."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ....common.path_spelling import quoted, unquoted
from .errors import bad_path, exchanged, outside

LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that tools may use: the workspace itself, or one that its config adds.

    ``path`` is absolute. ``writable``: whether tools may change what is in it.
    """

    path: Path
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """A path in a workspace: ``parts`` beneath the root with that number, 0 being the workspace itself."""

    root: int
    parts: tuple[str, ...]
    prefix: str = ""

    @property
    def path(self) -> str:
        """The path as the system writes it: relative to the workspace, or absolute in another root."""
        return "/".join((self.prefix, *self.parts)) if self.prefix else "/".join(self.parts) or "."

    @property
    def shown(self) -> str:
        """The path in its one spelling, which a tool takes again."""
        return quoted(self.path)

    def below(self, *names: str) -> Place:
        """The place ``names`` further down."""
        return Place(self.root, (*self.parts, *names), self.prefix)


def real_path(path: Path, asked: str) -> Path:
    """``path`` with its links followed, for the place ``asked``. Raises ``ToolFailure`` where a link is
    exchanged meanwhile.

    ``os.path.realpath`` reads each link that it saw a moment before, and before Python 3.13 it raises
    ``OSError`` where that is no link any more.
    """
    try:
        return Path(os.path.realpath(path))
    except OSError:
        raise exchanged(asked) from None


def place_of(spelling: str, roots: Sequence[Root]) -> Place:
    """The place that ``spelling`` means, without a look at the disk.

    Relative paths start at the first root, absolute ones lie in any. Raises ``ToolFailure`` for a text that
    is no path, and for one that leads out of the roots.
    """
    if not spelling or len(spelling) > LONGEST:
        raise bad_path(spelling, f"it has {len(spelling):,} characters, not 1 to {LONGEST:,}")
    try:
        path = unquoted(spelling)
    except ValueError as fault:
        raise bad_path(spelling, str(fault)) from None
    if path.startswith("~"):
        raise bad_path(path, "'~' is not replaced by a home folder (write ./~ for a file of that name)")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise outside(path)
    if not path.startswith("/"):
        return Place(0, parts)
    for number, root in enumerate(roots):
        for known in {root.path, real_path(root.path, spelling)}:
            above = known.parts[1:]
            if parts[: len(above)] == above:
                prefix = str(known) if number else ""
                return Place(number, parts[len(above) :], prefix)
    raise outside(path)
