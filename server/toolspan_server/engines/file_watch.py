"""When files have to be looked at again: as soon as the system says so, or every so often."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from threading import Event
from typing import Any

WITHOUT_WATCHING_SECONDS = 30.0
"""How often files are looked at that the system cannot watch."""

_MISSING_SECONDS = 1.0
_DEBOUNCE_MS, _STEP_MS, _WAIT_MS = 1_000, 50, 500

_log = logging.getLogger(__name__)


class FileWatch(ABC):
    """Watches folders from a worker thread until ``stop`` is set.

    ``name`` is what the log calls them; ``recursive``: what is below them is watched too.
    """

    def __init__(self, name: str, stop: Event, *, recursive: bool = True) -> None:
        self._name = name
        self._stop = stop
        self._recursive = recursive

    @abstractmethod
    def identity(self) -> Any:
        """Which folders are there: another value once one came, went or was replaced, ``None`` if none is."""

    @abstractmethod
    def present(self) -> Iterable[Path]:
        """The folders that are there."""

    @abstractmethod
    def relevant(self, path: str) -> str | None:
        """The file that a change at ``path`` is about, if it is about one that counts."""

    def is_due(self) -> bool:
        """Whether it is time for a round although nothing has changed."""
        return False

    def rounds(self) -> Iterator[Set[str]]:
        """One item for each time to look: the files that changed, or nothing when that is not known.

        The first comes at once, and another one as soon as the system watches, so that no change falls
        between.
        """
        while not self._stop.is_set():
            yield frozenset()
            before = self.identity()
            if before is None:
                self._pause(_MISSING_SECONDS)
            else:
                yield from self._watched(before)

    def _watched(self, before: Any) -> Iterator[Set[str]]:
        """Rounds until the folders are others than ``before``."""
        from watchfiles._rust_notify import WatchfilesRustInternalError

        try:
            yield from self._watched_by_system(before)
        except WatchfilesRustInternalError:
            # A name that is not UTF-8 has changed, which watchfiles cannot tell.
            return
        except OSError as error:
            _log.warning(
                "%s cannot be watched (%s): looked at every %g s",
                self._name,
                error,
                WITHOUT_WATCHING_SECONDS,
            )
            while self.identity() == before and not self._pause(WITHOUT_WATCHING_SECONDS):
                yield frozenset()

    def _watched_by_system(self, before: Any) -> Iterator[Set[str]]:
        from watchfiles import watch

        batches = watch(
            *self.present(),
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
            if self.identity() != before:
                return
            changed = frozenset(filter(None, (self.relevant(path) for _, path in batch)))
            if first or changed or self.is_due():
                first = False
                yield changed

    def _pause(self, seconds: float) -> bool:
        """Wait until ``is_due``, the end, or ``seconds`` have passed. True at the end."""
        end = time.monotonic() + seconds
        while not self.is_due() and (left := end - time.monotonic()) > 0:
            if self._stop.wait(min(left, _WAIT_MS / 1000)):
                return True
        return self._stop.is_set()
