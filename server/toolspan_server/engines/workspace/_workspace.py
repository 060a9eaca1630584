"""A workspace: its roots, opened once, and its limits."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path

from ...errors import ToolFailure
from ._limits import WorkspaceLimits
from .keeping.changes import Target, remove_leftovers, target_at
from .keeping.checkpoints import Checkpoints
from .keeping.notes import Notes
from .keeping.seen import FilesRead
from .opening.beneath import FOLDER, PATH_ONLY, open_beneath
from .opening.denial import DeniedPaths, PathRule
from .opening.errors import failure_of
from .opening.files import OpenFile, opened
from .opening.paths import Place, Root, place_of
from .opening.protection import Protection, path_of


class Workspace:
    """The folder ``path`` and the further ``roots``, in which tools may work within ``limits``.

    ``checkpoints`` is the SQLite file for what changes replace, for ``files_read``, which each conversation
    knows, and for the ``notes`` of tools. ``protection`` says what may not be changed, or read. Folders are
    opened at first use and stay open. Methods may be called in any thread; they block.
    """

    def __init__(
        self,
        path: Path,
        checkpoints: Path,
        *,
        roots: Sequence[Root] = (),
        limits: WorkspaceLimits | None = None,
        protection: Protection | None = None,
    ) -> None:
        self.roots = (Root(path), *roots)
        self.limits = limits or WorkspaceLimits.initial()
        self.protection = protection or Protection()
        self.denied = DeniedPaths()
        self.files_read = FilesRead(checkpoints)
        self.checkpoints = Checkpoints(checkpoints, self.limits)
        self.notes = Notes(checkpoints)
        self._descriptors: dict[int, int] = {}
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """The folder itself, absolute."""
        return self.roots[0].path

    def held_to(self, rules: Sequence[PathRule]) -> Workspace:
        """The same workspace for one call, to which ``rules`` deny files."""
        seen = copy(self)
        seen.denied = DeniedPaths(rules, self.roots, self.limits)
        return seen

    def real_path(self, spelling: str) -> Path:
        """The absolute path, without links, of what a tool would work on at ``spelling``: that of the file as
        it opens, or of the folder in which it would be made.

        Raises ``ToolFailure`` for what no tool of the workspace would open.
        """
        place = self.place(spelling)
        for depth in range(len(place.parts), -1, -1):
            try:
                descriptor = open_beneath(self.descriptor(place.root), place.parts[:depth], PATH_ONLY)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise failure_of(error, place.path) from None
            try:
                self.denied.check_asked(place)
                self.denied.check_open(place, descriptor)
                found = path_of(descriptor) or Path(os.path.realpath(self.roots[place.root].path))
            finally:
                os.close(descriptor)
            return found.joinpath(*place.parts[depth:])
        raise _unavailable(self.roots[place.root].path, FileNotFoundError())

    def other_path(self, file: OpenFile) -> str:
        """The path of ``file`` without links, absolute outside of the workspace; empty where it is the one
        that it was opened by."""
        return self._if_other(file.place, path_of(file.descriptor))

    def other_start(self, place: Place) -> str:
        """As ``other_path``, of the file or folder at ``place``; empty where there is nothing."""
        try:
            descriptor = open_beneath(self.descriptor(place.root), place.parts, PATH_ONLY)
        except OSError:
            return ""
        try:
            found = path_of(descriptor)
        finally:
            os.close(descriptor)
        return self._if_other(place, found)

    def _if_other(self, place: Place, found: Path | None) -> str:
        real = os.path.realpath(self.roots[place.root].path)
        return "" if found is None or found == Path(real, *place.parts) else self.relative(found)

    def relative(self, real: Path) -> str:
        """The path ``real``, which no link leads to: relative where it is in the workspace's own folder."""
        own = Path(os.path.realpath(self.path))
        return str(real.relative_to(own) if real.is_relative_to(own) else real)

    def close(self) -> None:
        """Close the folders. They are opened again when they are used."""
        with self._lock:
            while self._descriptors:
                os.close(self._descriptors.popitem()[1])

    def place(self, path: str) -> Place:
        """The place that ``path`` means: relative to the workspace, or absolute inside of a root.

        Raises ``ToolFailure`` (``invalid_path``, ``outside_workspace``).
        """
        return place_of(path, self.roots)

    @contextmanager
    def open_file(self, place: Place, *, follow: bool = True) -> Generator[OpenFile]:
        """The regular file at ``place``, open for reading. Raises ``ToolFailure``."""
        self.denied.check_asked(place)
        with opened(self.descriptor(place.root), place, follow=follow) as file:
            self.protection.check_read(place, file.descriptor, self.roots)
            self.denied.check_open(place, file.descriptor)
            yield file

    @contextmanager
    def changing(self, place: Place, *, make_folders: bool = False) -> Generator[Target]:
        """The file at ``place``, to be changed in the block, where no other change in its folder runs.

        With ``make_folders`` the folders above it are made. Raises ``ToolFailure`` for what may not be
        changed.
        """
        self.protection.check(place, self.roots)
        self.denied.check_asked(place)
        root = self.descriptor(place.root)
        with target_at(root, place, self.limits, make_folders=make_folders) as target:
            self.protection.check_folder(place, target.folder, root)
            self.denied.check_change(place, target.folder)
            yield target

    def remove_leftovers(self) -> int:
        """Remove the temporary files that ended processes left in the roots, and in the folders of the
        changes that are kept; how many there were. Raises ``ToolFailure``."""
        folders = {(number, tuple[str, ...]()) for number, root in enumerate(self.roots) if root.writable}
        for path in self.checkpoints.paths():
            with suppress(ToolFailure):  # of a root that was taken out of the config
                place = self.place(path)
                folders.add((place.root, place.parts[:-1]))
        removed = 0
        for root, parts in sorted(folders):
            with suppress(OSError):  # the folder is gone
                descriptor = open_beneath(self.descriptor(root), parts, FOLDER)
                try:
                    removed += remove_leftovers(descriptor)
                finally:
                    os.close(descriptor)
        return removed

    def open_folder(self, place: Place) -> int:
        """A descriptor of the folder at ``place``, which the caller closes. Raises ``ToolFailure``."""
        try:
            descriptor = open_beneath(self.descriptor(place.root), place.parts, FOLDER)
        except OSError as error:
            raise failure_of(error, place.path) from None
        try:
            self.protection.check_read(place, descriptor, self.roots)
            self.denied.check_open(place, descriptor)
        except ToolFailure:
            os.close(descriptor)
            raise
        return descriptor

    def descriptor(self, root: int = 0) -> int:
        """A descriptor of the root with that number; it stays the workspace's own. Raises ``ToolFailure``."""
        if sys.platform == "win32":
            raise ToolFailure(
                "Workspaces need Linux or macOS: Windows opens no file relative to a folder",
                error_code="not_supported",
                user_action="Run the server on Linux, on macOS or in WSL.",
            )
        with self._lock:
            known = self._descriptors.get(root)
            if known is not None and os.fstat(known).st_nlink:
                return known
            if known is not None:  # the folder was removed; one of that name may be there again
                os.close(self._descriptors.pop(root))
            try:
                self._descriptors[root] = os.open(self.roots[root].path, FOLDER)
            except OSError as error:
                raise _unavailable(self.roots[root].path, error) from None
            return self._descriptors[root]


def _unavailable(path: Path, error: OSError) -> ToolFailure:
    return ToolFailure(
        "The workspace's folder cannot be opened",
        error_code="workspace_unavailable",
        user_action="Make the folder, or correct the path of the workspace in the config.",
        detail=f"{path}: {error.strerror or error}",
    )
