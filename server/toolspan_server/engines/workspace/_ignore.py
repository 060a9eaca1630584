"""``.gitignore`` files: which files a search leaves out. Syntax and precedence are git's (gitignore(5))."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ._patterns import Pattern
from .opening.files import READING

NAME = ".gitignore"
ALWAYS = frozenset((".git", ".hg", ".svn"))
"""Folders of version control, which no search enters."""

_MOST_BYTES = 262_144


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: Pattern
    negated: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of the folders above, outermost first, each with the number of parts of its folder's path."""

    levels: tuple[tuple[int, tuple[_Rule, ...]], ...] = ()

    def entered(self, folder: int, depth: int) -> IgnoreRules:
        """These and the rules of ``folder``, a descriptor; its path has ``depth`` parts."""
        rules = tuple(_rules(_content(folder)))
        return IgnoreRules((*self.levels, (depth, rules))) if rules else self

    def ignores(self, parts: Sequence[str], *, is_folder: bool) -> bool:
        """Whether the path ``parts`` is ignored; that of its folder is not."""
        for depth, rules in reversed(self.levels):
            for rule in reversed(rules):
                if (is_folder or not rule.folders_only) and rule.pattern.matches(parts[depth:]):
                    return not rule.negated
        return False


def _rules(text: str) -> Iterator[_Rule]:
    for line in text.splitlines():
        if (rule := _rule(line)) is not None:
            yield rule


def _rule(line: str) -> _Rule | None:
    if line.startswith("#"):
        return None
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    negated = line.startswith("!")
    written = line.removeprefix("!")
    folders_only = written.endswith("/")
    written = written.rstrip("/")
    if not written:
        return None
    anchored = "/" in written
    if written.endswith("/**"):
        written += "/*"
    try:
        pattern = Pattern.of(_without_braces(written if anchored else f"**/{written}"))
    except ValueError:
        return None
    return _Rule(pattern, negated, folders_only)


def _without_braces(pattern: str) -> str:
    """``pattern`` with braces as characters, which they are to git."""
    return pattern.replace("{", "[{]")


def _content(folder: int) -> str:
    """The text of the folder's file; empty where there is none that can be read, as git has it."""
    try:
        descriptor = os.open(NAME, READING | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _MOST_BYTES).decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
