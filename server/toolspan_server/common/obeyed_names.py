"""Names of files and folders that programs obey, or run, when somebody only works in a folder.

Who changes them runs code later, in the name of the person: by ``git status``, by opening an editor, by
entering the folder, by the next push. Tools of a workspace do not change them, nor do commands in a sandbox,
unless its config says otherwise (``protected``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

ANY_DOT_NAME = ".*"
"""Every name with a dot in front, right in a workspace's folder, but for those of ``INERT``."""

GIT = ".git"
GIT_HEAD = "head"
GIT_FILES = frozenset((GIT_HEAD, "config", "config.worktree", "commondir", "gitdir"))
"""Files by which git takes a folder of any name for a repository; in small letters."""

OBEYED = (
    # version control: hooks, filters and programs that its settings name
    ".git",
    ".hg",
    ".svn",
    ".bzr",
    ".jj",
    # editors and agents: tasks, launchers, servers, hooks
    ".vscode",
    ".idea",
    ".fleet",
    ".zed",
    ".cursor",
    ".claude",
    ".devcontainer",
    ".mcp.json",
    ".toolspan",
    # shells and package managers
    ".envrc",
    ".direnv",
    ".husky",
    "node_modules/.bin",
    # services that run what is pushed
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ANY_DOT_NAME,
)
"""What is protected by default, wherever it lies: names, and paths that end so."""

INERT = (
    # read as lists of paths or as plain values, by programs that were asked to run
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    ".keep",
    ".mailmap",
    ".dockerignore",
    ".npmignore",
    ".prettierignore",
    ".eslintignore",
    ".editorconfig",
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".env.example",
    ".coveragerc",
    # results and caches, which only the program that made them reads
    ".coverage",
    ".coverage.*",
    ".nyc_output",
    ".cache",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".tox",
    ".nox",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    ".DS_Store",
    ".nfs*",
    ".*.swp",
    ".toolspan-*.tmp",
)
"""Names with a dot in front that no program obeys by itself, each for one of these two reasons."""


def obeyed_part(parts: Sequence[str], names: Iterable[str]) -> int | None:
    """How many of ``parts``, a path in a folder, lead to something that ``names`` protect; ``None``: nothing
    of it is protected."""
    folded = [fold_name(part) for part in parts]
    found: list[int] = []
    for name in names:
        if name == ANY_DOT_NAME:
            found += [1] if folded and _is_unknown_dot_name(folded[0]) else []
            continue
        wanted = [fold_name(part) for part in name.split("/")]
        length = len(wanted)
        found += [at + length for at in range(len(folded) - length + 1) if folded[at : at + length] == wanted]
    return min(found, default=None)


@lru_cache(maxsize=64)
def last_parts(names: tuple[str, ...]) -> frozenset[str]:
    """The names, folded, by which a path may end that ``names`` protect, but for ``ANY_DOT_NAME``: of a path
    with another end ``obeyed_part`` need not be asked, if nothing protects what it lies in."""
    return frozenset(fold_name(name.rpartition("/")[2]) for name in names)


def fold_name(name: str) -> str:
    """``name`` as file systems may see it that ignore case, forms of letters and characters that hide."""
    if name.isascii():
        return name.lower()
    visible = "".join(
        each for each in unicodedata.normalize("NFC", name) if unicodedata.category(each) != "Cf"
    )
    return visible.casefold()


def _is_unknown_dot_name(name: str) -> bool:
    return name.startswith(".") and not any(fnmatchcase(name, fold_name(each)) for each in INERT)
