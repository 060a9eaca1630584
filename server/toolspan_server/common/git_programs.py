"""Files that git runs by itself: hooks, and programs and further settings that its configuration names.

They are ordinary files of a project by their names. Who changes them runs code at the person's next commit,
checkout or ``git status``. Git is not asked, since it has to be known without running it, and for every
branch: all settings that could ever hold are read (``includeIf`` whatever its condition).

Kept is what git starts, and what a hook names directly. What that in turn runs (``make test``, scripts of
``package.json``) is the project's own code, on which people have tools work.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .obeyed_names import GIT

_MOST_BYTES = 1_048_576
_MOST_FILES = 1_000
_DEEPEST = 10
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

_SECTION = re.compile(r'\[\s*+([A-Za-z0-9.-]+)[ \t]*+(?:"((?:[^"\\\n]|\\.)*+)"[ \t]*+)?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=[ \t]*)?")
_BETWEEN = re.compile(r"[\s\ufeff]+|[#;][^\n]*")
_LINE = re.compile(r"[^\n]*")
_VALUE = re.compile(r"(\\\r?\n)|\\(.)|(\")|([#;])|(\n)|([^\"\\#;\n]+)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}

_WORD = re.compile(r"[^\s;&|<>(){}$`'\"=!,:#\\@^*?\[\]]+")
_IN_QUOTES = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_SCRIPT = re.compile(r"\.(?:sh|bash|zsh|ksh|fish|py|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua|tcl|ps1|exe)\Z")
_HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-changelist", "p4-post-changelist",
    "p4-pre-submit", "p4-prepare-changelist", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
    "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive",
    "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
    "sendemail-validate", "update",
)  # fmt: skip
"""Names of hooks (githooks(5))."""

OPERATIONS = ("rebase-merge", "rebase-apply", "sequencer")
"""Folders of a git directory that have what is left to do of a rebase, a cherry-pick or a revert."""

_HARMLESS_STEPS = frozenset(
    (
        *("pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f", "drop", "d", "revert"),
        *("label", "l", "reset", "t", "merge", "m", "update-ref", "u", "noop", "break", "b"),
    )
)
"""Steps of a rebase (git-rebase(1)) but ``exec``, which runs a command."""
_STRATEGIES = frozenset(("ort", "recursive", "resolve", "octopus", "ours", "subtree"))
"""git's own; of any other it runs the program ``git-merge-NAME``."""
_STEP = re.compile(r"^[ \t\r]*+([A-Za-z][^ \t\r\n]*+)", re.MULTILINE)
_AUTHOR = re.compile(r"(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^']|'\\'')*+'\n)*+")
"""What a rebase writes of an author, which older versions of git had a shell read."""

_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


class Unreadable(Exception):
    """Settings that git would read are too large, or too many, to be looked at; its text says which."""


@dataclass(frozen=True, slots=True)
class Named:
    """``why`` git runs or obeys a file. ``if_program``: it does if the file can be run, as it is only a word
    in a hook."""

    why: str
    if_program: bool = False


@dataclass(frozen=True, slots=True)
class Repository:
    """A git directory and the folder that it is the repository of, which is itself where there is none."""

    directory: Path
    worktree: Path

    @classmethod
    def at(cls, path: Path) -> Repository | None:
        """The repository that ``path``, a ``.git``, is or leads to."""
        if path.is_dir():
            return cls(Path(os.path.realpath(path)), path.parent)
        written = read_start(path)
        if written is None or not written.startswith("gitdir:"):
            return None
        found = _joined(path.parent, written.removeprefix("gitdir:").strip())
        return cls(found, path.parent) if found is not None and found.is_dir() else None


def repositories_above(folder: Path) -> Iterator[Repository]:
    """Those whose work trees ``folder`` is, or lies in."""
    for each in (folder, *folder.parents):
        found = Repository.at(each / GIT)
        if found is not None:
            yield found


class Programs(NamedTuple):
    """What git runs: ``named`` are paths, ``linked`` the identities (device, inode) of files among these, and
    among its own hooks, that have further names (hard links)."""

    named: dict[Path, Named]
    linked: set[tuple[int, int]]


def find_programs(repositories: Iterable[Repository], folders: Sequence[Path]) -> Programs:
    """The files and folders in ``folders`` that git runs or obeys for ``repositories``, besides what its
    directories have; also those that are not there yet. Links in the paths are not followed.

    Raises ``Unreadable``.
    """
    search = _Search(folders)
    for repository in repositories:
        search.look(repository)
    for path in search.found:
        search.note_links(path)
    return Programs(search.found, search.linked)


@dataclass(slots=True)
class _Search:
    folders: Sequence[Path]
    found: dict[Path, Named] = field(default_factory=dict[Path, Named])
    linked: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _read: set[tuple[Path, Path]] = field(default_factory=set[tuple[Path, Path]])

    def look(self, repository: Repository) -> None:
        directory, worktree = repository.directory, repository.worktree
        written = read_start(directory / "commondir")
        common = directory if written is None else _joined(directory, written.strip()) or directory
        hooks = [common / "hooks", worktree / ".husky"]
        for file in (*_of_machine(), common / "config", directory / "config.worktree"):
            self._settings(file, (worktree, directory), hooks, 0)
        for folder in dict.fromkeys(hooks):
            self._hooks(folder, worktree)

    def _settings(self, file: Path, bases: Sequence[Path], hooks: list[Path], depth: int) -> None:
        """What the settings in ``file`` name, relative to ``bases``; folders of hooks go to ``hooks``."""
        if (file, bases[0]) in self._read or depth > _DEEPEST:
            return
        self._read.add((file, bases[0]))
        text = _text(file)
        for name, value in () if text is None else read_settings(text):
            why = f"{name} in {file}"
            if name == "core.hookspath":
                for each in _all_joined(bases, value):
                    self._add_folder(each, why)
                    hooks.append(each)
            elif name == "include.path" or (name.startswith("includeif.") and name.endswith(".path")):
                for each in _all_joined((file.parent,), value):
                    self._add(each, why)
                    self._settings(each, bases, hooks, depth + 1)
            elif not name.startswith("alias.") or value.lstrip().startswith("!"):
                whole = [value.strip()] if "/" in value else []
                for each in _named((*whole, *_words(value)), (*bases, file.parent)):
                    self._add(each, why)

    def _hooks(self, folder: Path, worktree: Path) -> None:
        """What the hooks in ``folder`` lead to, or name."""
        try:
            with os.scandir(folder) as listed:
                names = sorted(entry.name for entry in listed if not entry.name.endswith(".sample"))
        except OSError:
            return
        if len(names) > _MOST_FILES:
            raise Unreadable(f"{folder} has more than {_MOST_FILES:,} files")
        for path in (folder / name for name in names):
            if path.is_symlink():
                self._add(path, f"it is in {folder}")
                self._add(Path(os.path.realpath(path)), f"the hook {path} leads to it")
            if not path.is_file():
                continue
            self.note_links(path)
            for each in _named(_words(_text(path) or ""), (worktree, folder)):
                self._add(each, f"the hook {path} names it", if_program=True)

    def note_links(self, path: Path) -> None:
        """Note ``path`` if it is a file of several names."""
        with suppress(OSError):
            found = path.stat()
            if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
                self.linked.add((found.st_dev, found.st_ino))

    def _add_folder(self, path: Path, why: str) -> None:
        """A folder of hooks; where it is or has one of the folders, in which people work, the hooks alone."""
        if any(folder.is_relative_to(path) for folder in self.folders):
            for name in _HOOKS:
                self._add(path / name, why)
        else:
            self._add(path, why)

    def _add(self, path: Path, why: str, *, if_program: bool = False) -> None:
        spellings = (path, _beside_links(path))
        if any(each.is_relative_to(folder) for each in spellings for folder in self.folders):
            known = self.found.get(path)
            if known is None or (known.if_program and not if_program):
                self.found[path] = Named(why, if_program)


def read_settings(text: str) -> Iterator[tuple[str, str]]:
    """The settings in ``text``, a file as git reads it: ``("core.hookspath", "hooks")``.

    The names of sections and keys are in small letters. What git would refuse is passed over.
    """
    section, at = "", 0
    while at < len(text):
        if between := _BETWEEN.match(text, at):
            at = between.end()
        elif head := _SECTION.match(text, at):
            section = head[1].lower() + ("" if head[2] is None else f".{head[2]}")
            at = head.end()
        elif key := _KEY.match(text, at):
            value, at = _value(text, key.end()) if key[2] else ("", key.end())
            yield f"{section}.{key[1].lower()}", value
        else:
            line = _LINE.match(text, at)
            at = len(text) if line is None else max(line.end(), at + 1)


def _value(text: str, at: int) -> tuple[str, int]:
    pieces: list[str] = []
    in_quotes = False
    while found := _VALUE.match(text, at):
        _, escaped, quote, comment, end, plain = found.groups()
        if end or (comment and not in_quotes):
            break
        at = found.end()
        in_quotes ^= bool(quote)
        pieces.append(plain or comment or ("" if escaped is None else _ESCAPED.get(escaped, escaped)))
    return "".join(pieces).strip(), at


def starts_programs(operation: Path) -> bool:
    """Whether git may start a program when somebody goes on with ``operation``, one of ``OPERATIONS``: by a
    step of its plan, or a strategy. What cannot be read may."""
    try:
        there = {} if operation.is_symlink() else {each.name: each for each in operation.iterdir()}
    except OSError:
        return True
    if not there:
        return True
    texts: dict[str, str] = {}
    for name in ("git-rebase-todo", "todo", "strategy", "opts", "author-script"):
        if (path := there.get(name)) is None:
            continue
        text = None if path.is_symlink() else read_start(path, _MOST_BYTES + 1)
        if text is None or len(text) > _MOST_BYTES:
            return True
        texts[name] = text
    steps = _STEP.findall(texts.get("git-rebase-todo", "") + "\n" + texts.get("todo", ""))
    options = read_settings(texts.get("opts", ""))
    strategies = [value for name, value in options if name == "options.strategy"]
    strategies += [texts["strategy"].strip()] if "strategy" in texts else []
    return not (
        _HARMLESS_STEPS.issuperset(steps)
        and _STRATEGIES.issuperset(strategies)
        and _AUTHOR.fullmatch(texts.get("author-script", ""))
    )


def may_become_program(path: Path) -> bool:
    """Whether ``path`` is a program, or is not there and its name would be one's."""
    if path.exists():
        return is_program(path)
    return "." not in path.name or bool(_SCRIPT.search(path.name))


def is_program(path: Path) -> bool:
    """Whether the file ``path`` can be run: by its mode, its first line or its name."""
    try:
        if not stat.S_ISREG(found := path.stat().st_mode):
            return False
    except OSError:
        return False
    return bool(found & _EXECUTABLE) or bool(_SCRIPT.search(path.name)) or _is_script(path)


def read_start(file: Path, most: int = 4_096) -> str | None:
    """The first bytes of a regular file, as text; ``None`` where there is none that can be read."""
    try:
        with os.fdopen(os.open(file, _FILE), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return None  # a pipe has no end
            return os.fsdecode(opened.read(most))
    except (OSError, ValueError):
        return None


def _text(file: Path) -> str | None:
    text = read_start(file, _MOST_BYTES + 1)
    if text is not None and len(text) > _MOST_BYTES:
        if "\0" in text:
            return None  # a compiled program
        raise Unreadable(f"{file} is larger than {_MOST_BYTES:,} bytes")
    return text


def _is_script(path: Path) -> bool:
    return (read_start(path, 2) or "") == "#!"


def _of_machine() -> Iterator[Path]:
    """The settings of the system and of the user."""
    yield Path("/etc/gitconfig")
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - it may not be known
    yield Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
    yield home / ".gitconfig"
    for name in ("GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
        if value := os.environ.get(name):
            yield Path(value)


def _words(text: str) -> Iterator[str]:
    """The words in ``text`` that may be names of files, however a shell would come upon them."""
    quoted = (first or second for first, second in _IN_QUOTES.findall(text))
    return iter(dict.fromkeys((*_WORD.findall(text), *quoted)))


def _named(words: Iterable[str], bases: Sequence[Path]) -> Iterator[Path]:
    """The paths that ``words`` may stand for: one with a slash may, one without where it is a script."""
    for word in words:
        plain = word.lstrip("/") if word.startswith("/") else word  # $(git rev-parse --show-toplevel)/x
        for each in dict.fromkeys((word, plain)):
            for path in _all_joined(bases, each) if each else ():
                if not path.is_dir() and ("/" in word or _SCRIPT.search(word) or _is_script(path)):
                    yield path


def _all_joined(bases: Sequence[Path], written: str) -> Iterator[Path]:
    for base in bases:
        if (path := _joined(base, written)) is not None:
            yield path


def _joined(base: Path, written: str) -> Path | None:
    """``written`` as a path, absolute and without ``..``; links stay."""
    if not written or "\0" in written or len(written) > 4_096:
        return None
    return Path(os.path.normpath(base / os.path.expanduser(written)))  # noqa: PTH111 - of any user


def _beside_links(path: Path) -> Path:
    """``path`` with the links of its folders followed, its own not."""
    try:
        return Path(os.path.realpath(path.parent), path.name)
    except (OSError, ValueError):
        return path
