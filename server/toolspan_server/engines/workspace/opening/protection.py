"""What tools may read but not change: the config, the state folder, and names such as ``.git``; and what they
may not read either.

A file is compared by where it lies and by what its folders are, so that no link leads around it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....common.git_programs import Unreadable, find_programs, may_become_program, repositories_above
from ....common.obeyed_names import ANY_DOT_NAME, GIT, GIT_FILES, GIT_HEAD, fold_name, obeyed_part
from ....errors import ToolFailure
from .beneath import FOLDER
from .errors import failure_of
from .paths import Place, Root, real_path

Identity = tuple[int, int]
_F_GETPATH = 50
_REMOVED = " (deleted)"


@dataclass(frozen=True, slots=True)
class Protection:
    """``paths`` are absolute files and folders; ``names`` are protected wherever they are in a root. What is
    ``hidden``, absolute folders, is not read."""

    paths: tuple[Path, ...] = ()
    names: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()

    def check_read(self, place: Place, descriptor: int, roots: Sequence[Root]) -> None:
        """Raise ``ToolFailure`` when the open file or folder of ``place`` is, or is in, something hidden."""
        if not self.hidden:
            return
        where = path_of(descriptor) or roots[place.root].path.joinpath(*place.parts)
        if any(_is_in(where, real_path(each, place.path)) for each in self.hidden):
            raise ToolFailure(
                f"{place.shown} is hidden: what tools store belongs to a user and a conversation",
                error_code="protected",
                user_action="Ask the tool that has stored it.",
            )

    def check(self, place: Place, roots: Sequence[Root]) -> None:
        """Raise ``ToolFailure`` when ``place`` is protected by its path."""
        root = roots[place.root]
        if not root.writable:
            raise ToolFailure(
                f"{place.shown} is in a folder that tools may only read",
                error_code="protected",
                user_action="Change files of the workspace, or set writable for that root in the config.",
            )
        path = root.path.joinpath(*place.parts)
        if obeyed_part(place.parts, self.names) is not None or any(
            _is_in(path, each) for each in (*self.paths, *self.hidden)
        ):
            raise protected(place)
        self._check_programs(place, real_path(path, place.path), [each.path for each in roots])

    def check_folder(self, place: Place, folder: int, root: int) -> None:
        """Raise ``ToolFailure`` when the open ``folder`` of ``place`` is or is in something protected.

        ``root`` is a descriptor of its root.
        """
        everything = (*self.paths, *self.hidden)
        kept = {found for each in everything if (found := _identity(each)) is not None}
        try:
            file = os.stat(place.parts[-1], dir_fd=folder, follow_symlinks=False)
            is_kept = (file.st_dev, file.st_ino) in kept
        except OSError:
            is_kept = False
        if is_kept or self._is_obeyed(place, folder, root) or self._makes_repository(place, folder):
            raise protected(place)
        if any(each in kept or self._is_named(each, above) for each, above in _ancestors(folder, root)):
            raise protected(place)
        here, above = path_of(folder), path_of(root)
        if here is not None and above is not None:
            self._check_programs(place, here / place.parts[-1], [above])

    def _check_programs(self, place: Place, path: Path, folders: Sequence[Path]) -> None:
        """Raise ``ToolFailure`` when git runs ``path``, the real one of ``place``, or obeys it."""
        if GIT not in self.names:
            return
        real = [real_path(each, place.path) for each in folders]
        try:
            programs = find_programs(repositories_above(path.parent), real).named
        except Unreadable as reason:
            raise protected(place, f"it is not known what git runs ({reason})") from None
        except OSError as error:
            raise failure_of(error, place.shown) from None
        for each, named in programs.items():
            is_meant = _is_in(path, each) or _is_in(path, real_path(each, place.path))
            if is_meant and (not named.if_program or may_become_program(path)):
                raise protected(place, f"git runs or obeys it ({named.why})")

    def _is_obeyed(self, place: Place, folder: int, root: int) -> bool:
        """Whether the file of ``place``, which lies in the open ``folder``, is protected by its real path."""
        here, above = path_of(folder), path_of(root)
        if here is None or above is None or not here.is_relative_to(above):
            return False
        parts = (*here.relative_to(above).parts, place.parts[-1])
        return obeyed_part(parts, self.names) is not None

    def _makes_repository(self, place: Place, folder: int) -> bool:
        """Whether the file of ``place`` is what git takes its open ``folder`` for a repository by, whatever
        the folder's name, or the settings of one."""
        name = fold_name(place.parts[-1])
        if GIT not in self.names or name not in GIT_FILES:
            return False
        return name == GIT_HEAD or _has(folder, "HEAD")

    def _is_named(self, folder: Identity, above: int) -> bool:
        """Whether the folder, which is in ``above``, has one of the names there."""
        for name in self.names:
            if "/" in name or name == ANY_DOT_NAME:
                continue  # the path of the folder tells
            try:
                found = os.stat(name, dir_fd=above, follow_symlinks=False)
            except OSError:
                continue
            if (found.st_dev, found.st_ino) == folder:
                return True
        return False


def protected(place: Place, why: str = "") -> ToolFailure:
    """The failure of a change of something protected."""
    return ToolFailure(
        f"{place.shown} is protected: tools may read it, not change it{why and f', as {why}'}",
        error_code="protected",
        user_action="Ask the person to change it, or to take its name out of protected of the workspace.",
    )


def path_of(descriptor: int) -> Path | None:
    """The path of what is open, whatever links led there; ``None`` where the system does not tell."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return Path(os.fsdecode(fcntl.fcntl(descriptor, _F_GETPATH, bytes(1_024)).partition(b"\0")[0]))
        found = Path(f"/proc/self/fd/{descriptor}").readlink()
        if os.fstat(descriptor).st_nlink == 0:  # it was removed since it was opened
            return found.with_name(found.name.removesuffix(_REMOVED))
    except OSError:
        return None
    return found if found.is_absolute() else None


def _has(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _is_in(path: Path, folder: Path) -> bool:
    parts, above = [[part.casefold() for part in each.parts] for each in (path, folder)]
    return parts[: len(above)] == above


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _ancestors(folder: int, root: int) -> Iterator[tuple[Identity, int]]:
    """``folder`` and the folders above it, below ``root``, each with a descriptor of the one it is in."""
    top = os.fstat(root)
    current = os.open(".", FOLDER, dir_fd=folder)
    try:
        while True:
            found = os.fstat(current)
            if (found.st_dev, found.st_ino) == (top.st_dev, top.st_ino):
                return
            above = os.open("..", FOLDER, dir_fd=current)
            os.close(current)
            current = above
            yield (found.st_dev, found.st_ino), current
            over = os.fstat(current)
            if (over.st_dev, over.st_ino) == (found.st_dev, found.st_ino):
                return
    finally:
        os.close(current)
