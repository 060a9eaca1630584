"""What programs outside of the sandbox obey.

It is found before a command runs, so that it stays as it is, and looked for afterwards, since a command can
make what was not there yet.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...common.obeyed_names import GIT, OBEYED, fold_name, obeyed_part
from ...errors import ToolFailure

MOST_ENTRIES = 1_000_000
MOST_PLACES = 1_000
_SECONDS = 20.0
_MOST_LINK_BYTES = 4_096
_MODULES = "node_modules"
_REPOSITORIES = (frozenset(("HEAD", "objects", "refs")), frozenset(("HEAD", "commondir")))
"""The entries by which git takes any folder for a repository (git's setup.c, is_git_directory)."""
GIT_SETTINGS = ("config", "config.worktree", "commondir", "gitdir", "hooks", "info", "modules", "worktrees")
"""Of a git directory, what names programs and other directories; the rest is git's data."""

_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


class TooMuch(Exception):
    """A folder has too many entries to be looked through."""


@dataclass(slots=True)
class Obeyed:
    """What was found: ``paths`` that are files or folders, and the targets of ``links``."""

    paths: dict[Path, None] = field(default_factory=dict[Path, None])
    links: dict[Path, str] = field(default_factory=dict[Path, str])


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps what ``names`` protect in ``folders`` (see ``common.obeyed_names``) from commands.

    With ``git_data`` commands change the data of git directories (commits, branches, the index), not their
    settings.
    """

    folders: Sequence[Path]
    names: Sequence[str] = OBEYED
    git_data: bool = False

    def look(self) -> Obeyed:
        """What is there now. Raises ``TooMuch``."""
        found = Obeyed()
        self._look(found, MOST_PLACES)
        return found

    def _look(self, found: Obeyed, most_places: int | None) -> None:
        """Add to ``found`` what is there now, also where it raises ``TooMuch`` in the end."""
        left, ends = MOST_ENTRIES, time.monotonic() + _SECONDS
        waiting: list[tuple[Path, tuple[str, ...]]] = [(folder, ()) for folder in self.folders]
        while waiting:
            root, parts = waiting.pop()
            try:
                with os.scandir(root.joinpath(*parts)) as listed:
                    entries = list(listed)
            except OSError:
                continue  # what cannot be listed is not obeyed either
            left -= len(entries)
            if left < 0 or time.monotonic() > ends:
                raise TooMuch
            waiting += self._judged(found, root, parts, entries)
            if most_places is not None and len(found.paths) > most_places:
                raise TooMuch

    def restore(self, before: Obeyed) -> list[str]:
        """Put aside what was made since ``before``; the paths of it, each with its new name.

        Nothing is removed: what is put aside has a name that no program obeys. Links that were exchanged are
        made again. Where there is too much to be looked through, what was found by then is put aside, and it
        is said that the rest was not looked at.
        """
        after, told = Obeyed(), list[str]()
        try:
            self._look(after, None)
        except TooMuch:
            told.append("there are too many files now: not all were looked at; look through them yourself")
        for path in [*after.paths, *after.links]:
            is_new = path not in before.paths and before.links.get(path) != after.links.get(path, "")
            if is_new and os.path.lexists(path):
                told += self._put_aside(path)
        for path, target in before.links.items():
            if after.links.get(path) != target:
                told += self._linked_again(path, target)
        return told

    def _judged(
        self, found: Obeyed, root: Path, parts: tuple[str, ...], entries: Sequence[os.DirEntry[str]]
    ) -> Iterator[tuple[Path, tuple[str, ...]]]:
        """Add to ``found`` what is protected among ``entries``; the folders to look into are left."""
        here = root.joinpath(*parts)
        names = {entry.name for entry in entries}
        if GIT in self.names and any(names >= each for each in _REPOSITORIES):
            self._add_git(found, here, whole=bool(parts))
        for entry in entries:
            path = (*parts, entry.name)
            is_link = entry.is_symlink()
            if obeyed_part(path, self.names) is not None:
                self._add(found, here / entry.name, is_link=is_link)
            elif not is_link and entry.is_dir(follow_symlinks=False):
                if fold_name(entry.name) != _MODULES:
                    yield root, path
                elif (inside := self._modules(here / entry.name, path)) is not None:
                    self._add(found, inside, is_link=inside.is_symlink())

    def _modules(self, folder: Path, parts: tuple[str, ...]) -> Path | None:
        """The programs in a folder of packages, which itself is not looked through: nobody works in it."""
        inside = folder / ".bin"
        is_meant = obeyed_part((*parts, inside.name), self.names) is not None
        return inside if is_meant and os.path.lexists(inside) else None

    def _add(self, found: Obeyed, path: Path, *, is_link: bool) -> None:
        if is_link:
            found.links[path] = os.readlink(path)  # noqa: PTH115 - as it is written
            target = Path(os.path.realpath(path))
            if self._is_inside(target) and target.exists():
                found.paths[target] = None
        elif fold_name(path.name) == GIT and path.is_dir():
            self._add_git(found, path, whole=True)
        else:
            found.paths[path] = None
            if fold_name(path.name) == GIT and (elsewhere := self._git_directory(path)) is not None:
                self._add_git(found, elsewhere, whole=True)

    def _add_git(self, found: Obeyed, directory: Path, *, whole: bool) -> None:
        """Add a git directory: as a ``whole`` unless its data may change, and it is no folder to work in."""
        if whole and not self.git_data:
            found.paths[directory] = None
            return
        for name in GIT_SETTINGS:
            path = directory / name
            if path.is_symlink():
                found.links[path] = os.readlink(path)  # noqa: PTH115 - as it is written
            elif path.exists():
                found.paths[path] = None

    def _git_directory(self, file: Path) -> Path | None:
        """Where the repository of a ``.git`` that is a file lies, if that is inside of the folders."""
        try:
            with os.fdopen(os.open(file, _FILE), "rb") as opened:
                if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                    return None  # a pipe has no end
                written = os.fsdecode(opened.read(_MOST_LINK_BYTES)).strip()
        except OSError:
            return None
        if not written.startswith("gitdir:"):
            return None
        try:
            found = Path(os.path.realpath(file.parent / written.removeprefix("gitdir:").strip()))
        except ValueError:
            return None
        return found if self._is_inside(found) and found.is_dir() else None

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) and path != folder for folder in self.folders)

    def _put_aside(self, path: Path) -> list[str]:
        """Rename ``path``, in its folder, to a name that nothing obeys; and the ``HEAD`` of a repository, by
        which it is known as one, whatever its name."""
        mark = f"put-aside-{secrets.token_hex(3)}-"
        told: list[str] = []
        try:
            if os.path.lexists(path / "HEAD") and not path.is_symlink():
                with _opened(self._root(path), path) as folder:
                    os.rename("HEAD", f"{mark}HEAD", src_dir_fd=folder, dst_dir_fd=folder)
                told.append(f"{self._shown(path / 'HEAD')} is now {mark}HEAD")
            if not told or fold_name(path.name) == GIT:
                name = mark + path.name.lstrip(".")
                with _opened(self._root(path), path.parent) as folder:
                    os.rename(path.name, name, src_dir_fd=folder, dst_dir_fd=folder)
                told.append(f"{self._shown(path)} is now {name}")
        except OSError as error:
            told.append(f"{self._shown(path)} could not be renamed ({error.strerror}): look at it yourself")
        return told

    def _linked_again(self, path: Path, target: str) -> list[str]:
        told = self._put_aside(path) if os.path.lexists(path) else []
        try:
            with _opened(self._root(path), path.parent) as folder:
                os.symlink(target, path.name, dir_fd=folder)
        except OSError as error:
            return [*told, f"{self._shown(path)}, a link, could not be restored ({error.strerror})"]
        return [*told, f"{self._shown(path)} leads to {target} again"]

    def _root(self, path: Path) -> Path:
        return next(folder for folder in self.folders if path.is_relative_to(folder))

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self.folders[0]) if path.is_relative_to(self.folders[0]) else path)


def too_much() -> ToolFailure:
    """The failure of a command in a folder that is too large to be looked through."""
    return ToolFailure(
        f"The workspace has more than {MOST_ENTRIES:,} files and folders, or {MOST_PLACES:,} that programs "
        "obey (.git, .vscode and others): a command could change one of these unseen",
        error_code="too_large",
        user_action="Use a smaller folder as the workspace, or write protected: [] in its config to let "
        "commands change everything.",
    )


@contextmanager
def _opened(root: Path, path: Path) -> Generator[int]:
    """A descriptor of the folder ``path`` below ``root``, to which no link leads. Raises ``OSError``."""
    descriptor = os.open(root, _FOLDER)
    try:
        for part in path.relative_to(root).parts:
            below = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)
