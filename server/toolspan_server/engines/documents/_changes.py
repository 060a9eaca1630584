"""When a collection's folder has to be looked at again."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Set
from threading import Event

from ._folder import DocumentFolder

WITHOUT_WATCHING_SECONDS = 30.0
"""How often a folder is looked at that the system cannot watch."""

_MISSING_SECONDS = 1.0
_DEBOUNCE_MS, _STEP_MS, _WAIT_MS = 1_000, 50, 500

_log = logging.getLogger(__name__)


class ChangeWatcher:
    """Watches ``tree`` from a worker thread until ``stop`` is set."""

    def __init__(self, tree: DocumentFolder, stop: Event) -> None:
        self._tree = tree
        self._stop = stop
        self._due = float("inf")

    def look_again(self, after: float = 0.0) -> None:
        """Give one more round in ``after`` seconds, as if something had changed. From any thread."""
        self._due = time.monotonic() + after

    def rounds(self) -> Iterator[Set[str]]:
        """One item for each time to look: the files that changed, or nothing when that is not known.

        The first comes at once, and another one as soon as the system watches, so that
        no change falls between.
        """
        while not self._stop.is_set():
            yield frozenset()
            if self._tree.identity() is None:
                self._pause(_MISSING_SECONDS)
            else:
                yield from self._watched()

    def _watched(self) -> Iterator[Set[str]]:
        """Rounds of an existing folder, until it is gone or another one is in its place."""
        from watchfiles._rust_notify import WatchfilesRustInternalError

        try:
            yield from self._watched_by_system()
        except WatchfilesRustInternalError:
            # A name that is not UTF-8 has changed, which watchfiles cannot tell.
            return
        except OSError as error:
            _log.warning(
                "collection %r: its folder cannot be watched (%s) and is looked at every %g s",
                self._tree.name,
                error,
                WITHOUT_WATCHING_SECONDS,
            )
            while self._tree.identity() is not None and not self._pause(WITHOUT_WATCHING_SECONDS):
                yield frozenset()

    def _watched_by_system(self) -> Iterator[Set[str]]:
        from watchfiles import watch

        folder = self._tree.identity()
        batches = watch(
            self._tree.root,
            watch_filter=None,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            rust_timeout=_WAIT_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        first = True
        for batch in batches:
            if self._tree.identity() != folder:
                return
            suspects = frozenset(filter(None, (self._tree.relevant(path) for _, path in batch)))
            if first or suspects or self._is_due():
                first = False
                yield suspects

    def _pause(self, seconds: float) -> bool:
        """Wait until ``look_again``, the end, or ``seconds`` have passed. True at the end."""
        end = time.monotonic() + seconds
        while not self._is_due() and (left := end - time.monotonic()) > 0:
            if self._stop.wait(min(left, _WAIT_MS / 1000)):
                return True
        return self._stop.is_set()

    def _is_due(self) -> bool:
        """Whether ``look_again`` asked for a round by now; asked once, it is done."""
        due = time.monotonic() >= self._due
        if due:
            self._due = float("inf")
        return due
