"""The commands that run in a guard's folders, from the look before the first to the one after the last.

What there was before is on disk meanwhile. A server that is killed leaves it there, and the next one looks
for what its commands made.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...common.state.folder import private_folder
from ...common.state.private_files import list_private, lock_file, open_private, remove_private
from ...errors import ToolFailure
from ._guard import Guard, Obeyed

_ENDING = ".json"

_log = logging.getLogger(__name__)


class Watch:
    """What there was before the first of the commands that run in a guard's folders, until the last of them
    has ended: what one of them makes is new for all others. It is kept in ``folder``, if there is one. Its
    methods may be called in any thread."""

    def __init__(self, guard: Guard, folder: Path | None = None) -> None:
        self._guard = guard
        self._folder = folder
        self._lock = threading.Lock()
        self._running: set[object] = set()
        self._before = Obeyed()
        self._kept: tuple[Path, int] | None = None
        self._told: list[str] = []

    @property
    def descriptor(self) -> int | None:
        """What the processes that run a command hold open: while one does, nobody else looks for what it
        made."""
        return None if self._kept is None else self._kept[1]

    def begin(self, command: object) -> list[Path]:
        """What is to stay as it is while ``command`` runs.

        When this raises, it counts not: ``TooMuch``, ``OSError``, or ``ToolFailure`` where something is there
        that could not be put aside.
        """
        with self._lock:
            is_first = not self._running
            if is_first:
                self._make_folder()  # before the look: it is no command's
            self._finish_earlier()
            self._running.add(command)
            try:
                if is_first:
                    self._before = self._guard.look()
                    self._keep()
            except BaseException:
                self._running.discard(command)
                raise
            return [*self._before.paths]

    def end(self, command: object) -> list[str]:
        """Put aside what was made since, as ``Guard.restore`` does. Raises ``OSError``."""
        with self._lock:
            told, self._told = self._told, []
            try:
                return [*told, *self._guard.restore(self._before)]
            except OSError as error:
                self._before.left.append(f"the workspace was not looked through ({error.strerror})")
                raise
            finally:
                self.forget(command)

    def forget(self, command: object) -> None:
        """Let ``command`` count no longer: it has not run. Does not wait."""
        self._running.discard(command)
        if not self._running and not self._before.left:
            self._drop()

    def _finish_earlier(self) -> None:
        """Put aside what is left of earlier commands, also of those of servers that were killed."""
        if self._before.left:
            self._guard.restore(self._before)
        left = [*self._before.left]
        if self._folder is not None and not left:
            told, left = finish_killed(self._folder)
            self._told += told
        if left:
            raise _still_there(left)

    def _make_folder(self) -> None:
        if self._folder is not None:
            try:
                private_folder(self._folder)
            except OSError as error:
                self._keep_none(error)

    def _keep(self) -> None:
        self._drop()
        if self._folder is None:
            return
        path = self._folder / f"{os.urandom(8).hex()}{_ENDING}"
        try:
            descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            self._kept = path, descriptor
            lock_file(descriptor)
            text = json.dumps(_record(self._guard, self._before)).encode()
            while text:
                text = text[os.write(descriptor, text) :]
        except OSError as error:
            self._drop()
            self._keep_none(error)

    def _keep_none(self, error: OSError) -> None:
        _log.warning("what was there before commands is kept in memory only: %s", error)
        self._folder = None

    def _drop(self) -> None:
        if self._kept is not None:
            path, descriptor = self._kept
            self._kept = None
            os.ftruncate(descriptor, 0)  # says nothing any more, also where it cannot be removed
            with suppress(OSError):
                remove_private(path)
            os.close(descriptor)


def finish_killed(folder: Path) -> tuple[list[str], list[str]]:
    """Look for what the commands of servers made that were killed, by what ``Watch`` kept in ``folder``: what
    was put aside, and what could not be. Raises ``OSError``."""
    told: list[str] = []
    left: list[str] = []
    for path, _ in list_private(folder):
        if path.suffix != _ENDING:
            continue
        with suppress(FileNotFoundError):  # its own server has ended in order
            descriptor = open_private(path, os.O_RDWR)
            try:
                if not lock_file(descriptor):
                    continue  # its server or a command of it is alive
                with open(descriptor, "rb", closefd=False) as file:
                    still = _finished(file.read(), told)
                if not still:
                    remove_private(path)
                left += still
            finally:
                os.close(descriptor)
    return told, left


def _finished(record: bytes, told: list[str]) -> list[str]:
    """What could not be put aside of what was made since ``record``; what was is added to ``told``."""
    try:
        found: dict[str, Any] = json.loads(record)
        folders = [Path(each) for each in found["folders"]]
        numbers: list[int] = found["numbers"]
        guard = Guard(folders, found["names"], found["git_data"], [Path(each) for each in found["own"]])
        links = {Path(path): target for path, target in found["links"].items()}
        missing = {Path(path): bool(program) for path, program in found["missing"].items()}
        before = Obeyed({Path(each): None for each in found["paths"]}, links, missing=missing)
    except (ValueError, LookupError, TypeError, AttributeError):
        return []  # the server was killed while it wrote this: no command has begun
    if numbers != _numbers(folders):
        shown = ", ".join(map(str, folders))
        told.append(
            f"{shown} was exchanged since commands ran there that were cut off: look through it yourself"
        )
        return []
    before.identify()  # what was there could not be changed by a command: it may have another number since
    try:
        told += guard.restore(before)
    except OSError as error:
        return [f"the workspace was not looked through ({error.strerror})"]
    return before.left


def _record(guard: Guard, before: Obeyed) -> dict[str, Any]:
    return {
        "folders": [str(each) for each in guard.folders],
        "numbers": _numbers(guard.folders),
        "names": [*guard.names],
        "git_data": guard.git_data,
        "own": [str(each) for each in guard.own],
        "paths": [str(each) for each in before.paths],
        "links": {str(path): target for path, target in before.links.items()},
        "missing": {str(path): program for path, program in before.missing.items()},
    }


def _numbers(folders: Sequence[Path]) -> list[int]:
    """By what it is known that folders are the same: 0 for one that is not there."""
    return [each.stat().st_ino if each.exists() else 0 for each in folders]


def _still_there(left: Sequence[str]) -> ToolFailure:
    return ToolFailure(
        f"No command runs while there is what an earlier one made and programs obey: {'; '.join(left[:5])}",
        error_code="not_put_aside",
        user_action="Ask the person to look at it, and to rename or remove it.",
    )
