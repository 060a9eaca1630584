"""Signals when the files behind resources may have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from threading import Event

from ._folder import Folder

WITHOUT_WATCHING_SECONDS = 30.0
"""How often folders are checked that the system cannot watch."""

_MISSING_SECONDS = 1.0
_DEBOUNCE_MS, _STEP_MS, _WAIT_MS = 1_000, 50, 500

_log = logging.getLogger(__name__)
_Identities = list[tuple[int, int] | None]


class FolderWatch:
    """Watches ``folders``, with what is below them if ``recursive``, from a worker thread until ``stop``."""

    def __init__(self, folders: Sequence[Folder], stop: Event, *, recursive: bool) -> None:
        self._folders = folders
        self._stop = stop
        self._recursive = recursive

    def rounds(self) -> Iterator[None]:
        """Yields each time that the files should be checked.

        The first comes at once, and another as soon as the system watches the folders, so that no change is
        missed in between.
        """
        while not self._stop.is_set():
            yield
            if any(self._identities()):
                yield from self._watched()
            else:
                self._pause(_MISSING_SECONDS)

    def _watched(self) -> Iterator[None]:
        """Yields until one of the folders was created, removed or replaced."""
        from watchfiles._rust_notify import WatchfilesRustInternalError

        before = self._identities()
        try:
            yield from self._watched_by_system(before)
        except WatchfilesRustInternalError:
            # a change of a name that is not UTF-8: watchfiles cannot report it
            return
        except OSError as error:
            _log.warning(
                "the files of resources cannot be watched (%s) and are looked at every %g s",
                error,
                WITHOUT_WATCHING_SECONDS,
            )
            while not self._pause(WITHOUT_WATCHING_SECONDS):
                yield

    def _watched_by_system(self, before: _Identities) -> Iterator[None]:
        from watchfiles import watch

        present = {folder.root for folder, identity in zip(self._folders, before, strict=True) if identity}
        batches = watch(
            *present,
            watch_filter=None,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            rust_timeout=_WAIT_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            recursive=self._recursive,
            ignore_permission_denied=True,
        )
        first = True
        for batch in batches:
            if self._identities() != before:
                return
            if first or any(self._concerns(path) for _, path in batch):
                first = False
                yield

    def _concerns(self, path: str) -> bool:
        return any(folder.tree.relevant(path) is not None for folder in self._folders)

    def _identities(self) -> _Identities:
        return [folder.tree.identity() for folder in self._folders]

    def _pause(self, seconds: float) -> bool:
        """Wait ``seconds``. Returns True at the end of the watch."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._stop.wait(min(left, _WAIT_MS / 1000)):
                return True
        return self._stop.is_set()
