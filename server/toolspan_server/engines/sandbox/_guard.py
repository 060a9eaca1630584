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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from ...common.git_programs import (
    OPERATIONS,
    Repository,
    Unreadable,
    find_programs,
    is_program,
    repositories_above,
    starts_programs,
)
from ...common.obeyed_names import GIT, OBEYED, fold_name, last_parts, obeyed_part
from ...errors import ToolFailure

MOST_ENTRIES = 1_000_000
MOST_PLACES = 1_000
_SECONDS = 20.0
_MODULES = "node_modules"
_MOST_LINKED = 1_000
"""Of a folder that programs obey with more files than these, such as an environment of Python, the further
names of its files are not looked for."""
_REPOSITORIES = (frozenset(("HEAD", "objects", "refs")), frozenset(("HEAD", "commondir")))
"""The entries by which git takes any folder for a repository (git's setup.c, is_git_directory)."""
GIT_SETTINGS = ("config", "config.worktree", "commondir", "gitdir", "hooks", "info", "modules", "worktrees")
"""What names programs and other directories, of a git directory in which people work as in any folder."""

GIT_DATA = (
    # commits, branches, what is staged
    *("objects", "refs", "logs", "lfs", "rr-cache", "index", "sharedindex.*", "index.stash.*"),
    *("packed-refs", "packed-refs.new", "shallow"),
    # where one is, and the words for the next commit
    *("HEAD", "*_HEAD", "AUTO_MERGE", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH"),
    *("SQUASH_MSG", "*_EDITMSG", "NOTES_MERGE_*"),
    # what is at work, or was put aside
    *("*.lock", "tmp_*", "next-index-*", "gc.pid", "gc.log", "put-aside-*"),
)
"""All of a git directory that commands may change which may change git's data: by none of it git starts a
program, or finds other settings. The folders of ``OPERATIONS`` come to it while they start nothing."""
_STORES = ("objects", "refs", "logs", "lfs")
"""Folders of a git directory with nothing but its data."""

_FOLDER = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


_Identity = tuple[int, int]
_Folder = tuple[Path, tuple[str, ...]]
"""A folder, and the names that lead to it."""
_CHANGED_BY_OWNER = stat.S_IWUSR | stat.S_IXUSR


class TooMuch(Exception):
    """A folder has too many entries to be looked through, or its settings are too large; the text says so."""


@dataclass(slots=True)
class Obeyed:
    """What was found: ``paths`` that are files or folders, with which ones they are, the targets of
    ``links``, the ``repositories`` among them, and what would be obeyed and is ``missing``: with whether only
    a program would be. ``unseen`` says which folders could not be looked through, ``left`` what was made
    since and could not be put aside."""

    paths: dict[Path, _Identity | None] = field(default_factory=dict[Path, "_Identity | None"])
    links: dict[Path, str] = field(default_factory=dict[Path, str])
    repositories: dict[Repository, None] = field(default_factory=dict[Repository, None])
    missing: dict[Path, bool] = field(default_factory=dict[Path, bool])
    unseen: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])

    def identify(self) -> None:
        """Note which file or folder each of the ``paths`` is now."""
        for path in self.paths:
            with suppress(OSError):
                self.paths[path] = _identity(path)

    def holds(self, path: Path, later: Obeyed) -> bool:
        """Whether ``path`` is the same file, folder or link as in ``later``."""
        if path in later.links:
            return self.links.get(path) == later.links[path]
        return self.paths.get(path) is not None and self.paths[path] == later.paths[path]


@dataclass(frozen=True, slots=True)
class Guard:
    """Keeps what ``names`` protect in ``folders`` (see ``common.obeyed_names``) from commands; with ``.git``
    also what git runs by its settings (see ``common.git_programs``).

    ``own`` are further files and folders that stay as they are, or missing, with the links that lead to them
    and all names of the files. With ``git_data`` commands change the data of git directories (``GIT_DATA``),
    not their settings.
    """

    folders: Sequence[Path]
    names: Sequence[str] = OBEYED
    git_data: bool = False
    own: Sequence[Path] = ()

    def look(self) -> Obeyed:
        """What is there now. Raises ``TooMuch``."""
        found = Obeyed()
        self._look(found, MOST_PLACES)
        linked = self._add_programs(found) if GIT in self.names else set[_Identity]()
        for path in self.own:
            self._add_way(found, path)
            if self._is_inside(path) and not os.path.lexists(path):
                found.missing[path] = False
        for path in (*found.paths, *filter(Path.is_file, map(_real, self.own))):
            linked.update(_identities_of_linked(path))
        for path in [*self._names_of(linked, found)]:
            found.paths[path] = None
        found.identify()
        return found

    def _look(self, found: Obeyed, most_places: int | None, *, deep: bool = True) -> None:
        """Add to ``found`` what is there now, also where it raises ``TooMuch`` in the end; unless it is to be
        ``deep``, only what lies in the folders themselves."""
        left, ends = MOST_ENTRIES, time.monotonic() + _SECONDS
        waiting: list[_Folder] = [(folder, ()) for folder in self.folders]
        links: list[_Folder] = []
        entered: set[Path] = set()
        while waiting or links:
            if waiting:
                here, parts = waiting.pop()
            else:  # all is open by now that was shut
                link, parts = links.pop()
                here = _real(link)
                is_kept = not found.paths.keys().isdisjoint((here, *here.parents))
                if is_kept or not self._is_inside(here) or not os.path.isdir(here):  # noqa: PTH112 - or shut
                    continue
            is_known = here in entered  # and is looked at once more, by the names that lead people there
            entered.add(here)
            entries = self._listed(found, here, after=most_places is None)
            below = [*self._judged(found, here, parts, entries)]
            if deep and not is_known:
                waiting += below
                links += ((here / each.name, (*parts, each.name)) for each in entries if each.is_symlink())
            left -= len(entries)
            if left < 0 or time.monotonic() > ends:
                raise TooMuch(f"it has more than {MOST_ENTRIES:,} files and folders")
            if most_places is not None and len(found.paths) > most_places:
                raise TooMuch(
                    f"it has more than {most_places:,} that programs obey (.git, .vscode and others)"
                )

    def _listed(self, found: Obeyed, folder: Path, *, after: bool) -> list[os.DirEntry[str]]:
        """What is in ``folder``. One that its owner may not list, though programs go through it, stays as it
        is; ``after`` a command it is opened to be listed."""
        try:
            if after:
                self._open_up(folder)
            with os.scandir(folder) as listed:
                return list(listed)
        except FileNotFoundError:
            return []
        except OSError as error:
            found.unseen.append(
                f"{self._shown(folder)[-200:]} could not be looked through ({error.strerror})"
            )
            if not after and isinstance(error, PermissionError):
                found.paths[folder] = None
            return []

    def _open_up(self, folder: Path) -> None:
        if os.access(folder, os.R_OK | os.X_OK, follow_symlinks=False):
            return
        if folder in self.folders:
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IRWXU)
            return
        with _opened(self._root(folder), folder.parent) as above:
            _open_folder(folder.name, above)

    def _add_programs(self, found: Obeyed) -> set[_Identity]:
        """Add what git runs for the repositories that were found, or that the folders are in; the identities
        of files among it that have further names."""
        above = (each for folder in self.folders for each in repositories_above(folder))
        try:
            programs = find_programs(dict.fromkeys((*found.repositories, *above)), self.folders)
        except Unreadable as reason:
            raise TooMuch(str(reason)) from None
        for path, named in programs.named.items():
            if not found.paths.keys().isdisjoint((path, *path.parents)):
                continue
            if not path.exists():
                found.missing[path] = named.if_program
            if named.if_program and not is_program(path):
                continue
            self._add_way(found, path)
        return programs.linked

    def _add_way(self, found: Obeyed, path: Path) -> None:
        """Add ``path`` and the links on the way to it."""
        for each in (path, *path.parents):
            if each.is_symlink() and self._is_inside(each):
                found.links[each] = os.readlink(each)  # noqa: PTH115 - as it is written
        real = Path(os.path.realpath(path))
        if self._is_inside(real) and real.exists():
            found.paths[real] = None

    def _names_of(self, identities: set[_Identity], found: Obeyed) -> Iterator[Path]:
        """All names of files with these ``identities``, but for those in folders that stay as they are."""
        numbers = {number for _, number in identities}
        waiting = [*self.folders] if identities else []
        while waiting:
            folder = waiting.pop()
            with suppress(OSError), os.scandir(folder) as listed:
                for entry in listed:
                    path = folder / entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting += [] if path in found.paths else [path]
                    elif entry.inode() in numbers and _identity(path) in identities:
                        yield path

    def restore(self, before: Obeyed) -> list[str]:
        """Put aside what was made since ``before``; the paths of it, each with its new name.

        Nothing is removed: what is put aside has a name that no program obeys. Links that were exchanged are
        made again. What lies in the folders themselves comes first, as the server may be ended meanwhile.
        Where there is too much to be looked through, what was found by then is put aside, and it is said that
        the rest was not looked at.
        """
        before.left.clear()
        told = [*self._restored(before, deep=False), *self._restored(before, deep=True)]
        before.left[:] = dict.fromkeys(before.left)
        return [*dict.fromkeys(told)]

    def _restored(self, before: Obeyed, *, deep: bool) -> list[str]:
        after, told = Obeyed(), list[str]()
        try:
            self._look(after, None, deep=deep)
        except TooMuch as reason:
            told.append(f"not everything was looked at, look through it yourself: {reason}")
            before.left.append(told[-1])
        told += after.unseen
        after.identify()
        for path in dict.fromkeys((*after.paths, *after.links)):
            if not before.holds(path, after) and os.path.lexists(path):
                told += self._put_aside(path, before)
                before.paths.pop(path, None)
        for path, if_program in before.missing.items():
            if is_program(path) if if_program else os.path.lexists(path):
                told += self._put_aside(self._way(path, before), before)
        for path, target in before.links.items():
            if not path.is_symlink() or os.readlink(path) != target:  # noqa: PTH115 - as it is written
                told += self._linked_again(path, target, before)
        return told

    def _judged(
        self, found: Obeyed, here: Path, parts: tuple[str, ...], entries: Sequence[os.DirEntry[str]]
    ) -> Iterator[_Folder]:
        """Add to ``found`` what is protected among ``entries`` of the folder ``here``, to which ``parts``
        lead; the folders to look into are left."""
        names = {entry.name for entry in entries}
        if GIT in self.names and any(names >= each for each in _REPOSITORIES):
            self._add_git(found, here, whole=bool(parts))
            found.repositories[Repository(here, here)] = None
        ends = last_parts(tuple(self.names))
        for entry in entries:
            name = fold_name(entry.name)
            may_be = name in ends or (not parts and name.startswith("."))
            if may_be and obeyed_part((*parts, entry.name), self.names) is not None:
                self._add(found, here / entry.name, is_link=entry.is_symlink())
            elif entry.is_dir(follow_symlinks=False):
                path = (*parts, entry.name)
                if name != _MODULES:
                    yield here / entry.name, path
                elif (inside := self._modules(here / entry.name, path)) is not None:
                    self._add(found, inside, is_link=inside.is_symlink())

    def _modules(self, folder: Path, parts: tuple[str, ...]) -> Path | None:
        """The programs in a folder of packages, which itself is not looked through: nobody works in it."""
        inside = folder / ".bin"
        is_meant = obeyed_part((*parts, inside.name), self.names) is not None
        return inside if is_meant and os.path.lexists(inside) else None

    def _add(self, found: Obeyed, path: Path, *, is_link: bool) -> None:
        repository = Repository.at(path) if fold_name(path.name) == GIT else None
        if repository is not None:
            found.repositories[repository] = None
        if is_link:
            found.links[path] = os.readlink(path)  # noqa: PTH115 - as it is written
            target = Path(os.path.realpath(path))
            if self._is_inside(target) and target.exists():
                found.paths[target] = None
        elif fold_name(path.name) == GIT and path.is_dir():
            self._add_git(found, path, whole=True)
        else:
            found.paths[path] = None
            if repository is not None and self._is_inside(repository.directory):
                self._add_git(found, repository.directory, whole=True)

    def _add_git(self, found: Obeyed, directory: Path, *, whole: bool) -> None:
        """Add a git directory: as a ``whole`` unless its data may change, and it is no folder to work in."""
        if whole and not self.git_data:
            found.paths[directory] = None
            return
        try:
            inside = [*directory.iterdir()] if whole else [directory / name for name in GIT_SETTINGS]
        except OSError:  # it is shut, and what is in it not known
            found.paths[directory] = None
            return
        for path in inside:
            if whole and _is_git_data(path):
                continue
            if path.is_symlink():
                found.links[path] = os.readlink(path)  # noqa: PTH115 - as it is written
            elif path.exists():
                found.paths[path] = None

    def _way(self, path: Path, before: Obeyed) -> Path:
        """``path``, or the new link that leads there."""
        new = (each for each in reversed(path.parents) if each.is_symlink() and each not in before.links)
        return next(filter(self._is_inside, new), path)

    def _is_inside(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) and path != folder for folder in self.folders)

    def _put_aside(self, path: Path, before: Obeyed) -> list[str]:
        """Rename ``path``, in its folder, to a name that nothing obeys; and the ``HEAD`` of a repository, by
        which it is known as one, whatever its name."""
        mark = f"put-aside-{secrets.token_hex(3)}-"
        told: list[str] = []
        try:
            if not path.is_symlink() and path.is_dir():
                self._open_up(path)
            if os.path.lexists(path / "HEAD") and not path.is_symlink():
                with _writable(self._root(path), path) as folder:
                    os.rename("HEAD", f"{mark}HEAD", src_dir_fd=folder, dst_dir_fd=folder)
                told.append(f"{self._shown(path / 'HEAD')} is now {mark}HEAD")
            if not told or fold_name(path.name) == GIT:
                name = mark + path.name.lstrip(".")
                with _writable(self._root(path), path.parent) as folder:
                    os.rename(path.name, name, src_dir_fd=folder, dst_dir_fd=folder)
                told.append(f"{self._shown(path)} is now {name}")
        except OSError as error:
            told.append(f"{self._shown(path)} could not be renamed ({error.strerror}): look at it yourself")
            before.left.append(told[-1])
        return told

    def _linked_again(self, path: Path, target: str, before: Obeyed) -> list[str]:
        told = self._put_aside(path, before) if os.path.lexists(path) else []
        try:
            with _writable(self._root(path), path.parent) as folder:
                os.symlink(target, path.name, dir_fd=folder)
        except OSError as error:
            before.left.append(f"{self._shown(path)}, a link, could not be restored ({error.strerror})")
            return [*told, before.left[-1]]
        return [*told, f"{self._shown(path)} leads to {target} again"]

    def _root(self, path: Path) -> Path:
        return next(folder for folder in self.folders if path.is_relative_to(folder))

    def _shown(self, path: Path) -> str:
        return str(path.relative_to(self.folders[0]) if path.is_relative_to(self.folders[0]) else path)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _identities_of_linked(path: Path) -> list[_Identity]:
    """The files of several names that ``path`` is or holds; git's data left out, by which nothing is run."""
    files, waiting = [path], [path]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as listed:
            inside = {entry.name: entry for entry in listed}
            if "HEAD" in inside and "refs" in inside:
                inside = {name: entry for name, entry in inside.items() if name not in _STORES}
            waiting += [Path(each) for each in inside.values() if each.is_dir(follow_symlinks=False)]
            files += [Path(each) for each in inside.values() if each.is_file(follow_symlinks=False)]
        if len(files) + len(waiting) > _MOST_LINKED:
            return []
    found: list[_Identity] = []
    for each in files:
        with suppress(OSError):
            file = each.lstat()
            if file.st_nlink > 1 and stat.S_ISREG(file.st_mode):
                found.append((file.st_dev, file.st_ino))
    return found


def _is_git_data(path: Path) -> bool:
    if path.name in OPERATIONS:
        return not starts_programs(path)
    return any(fnmatchcase(path.name, each) for each in GIT_DATA)


def _identity(path: Path) -> _Identity:
    found = path.lstat()
    return found.st_dev, found.st_ino


def too_much(reason: str) -> ToolFailure:
    """The failure of a command in a folder that is too large to be looked through."""
    return ToolFailure(
        f"The workspace cannot be looked through: {reason}. A command could change what programs obey unseen",
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


@contextmanager
def _writable(root: Path, path: Path) -> Generator[int]:
    """``_opened``, and names in the folder may be changed, whatever its mode says. Raises ``OSError``."""
    with _opened(root, path) as folder:
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        is_shut = mode & _CHANGED_BY_OWNER != _CHANGED_BY_OWNER
        if is_shut:
            with suppress(OSError):
                os.fchmod(folder, mode | _CHANGED_BY_OWNER)
        try:
            yield folder
        finally:
            if is_shut:
                with suppress(OSError):
                    os.fchmod(folder, mode)


def _open_folder(name: str, above: int) -> None:
    """Let its owner list and change the folder ``name``, to which no link leads. Raises ``OSError``."""
    mode = stat.S_IMODE(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode) | stat.S_IRWXU
    if not hasattr(os, "O_PATH"):
        os.chmod(name, mode, dir_fd=above, follow_symlinks=False)
        return
    folder = os.open(name, os.O_PATH | _FOLDER, dir_fd=above)
    try:
        Path(f"/proc/self/fd/{folder}").chmod(mode)
    finally:
        os.close(folder)
