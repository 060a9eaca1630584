"""Keeps one collection's index current, from a worker thread."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Set
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from ._changes import ChangeWatcher
from ._folder import DocumentFolder
from ._index import DamagedIndex, open_index, set_aside
from ._sync import Changes, Sync

_RETRY_SECONDS = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UpdateOutcome:
    """What one look at the folder came to: what changed in the index, or the problem that kept it from it."""

    changes: Changes
    problem: str = ""
    detail: str = ""

    @property
    def description(self) -> str:
        """The problem, for whoever runs the server."""
        return f"{self.problem}: {self.detail}" if self.detail else self.problem


class IndexUpdater:
    """Makes the index in ``folder`` equal to ``tree``, now and after every change, until ``stop`` is set."""

    def __init__(self, tree: DocumentFolder, folder: Path, stop: Event) -> None:
        self._tree = tree
        self._folder = folder
        self._stop = stop
        self._sync = Sync(tree, stop)
        self._watcher = ChangeWatcher(tree, stop)
        self._distrusted: DamagedIndex | None = None
        self._problem = ""

    def keep(self, report: Callable[[UpdateOutcome], None]) -> None:
        """Work until ``stop``; ``report`` gets the outcome of every round that was not broken off."""
        for suspects in self._watcher.rounds():
            done = self._round(suspects)
            if self._stop.is_set():
                return
            if done.description and done.description != self._problem:
                _log.warning("collection %r cannot be searched: %s", self._tree.name, done.description)
            self._problem = done.description
            report(done)

    def distrust(self, damage: DamagedIndex) -> None:
        """Set the index aside, which a search has found damaged, and build it again. From any thread."""
        self._distrusted = damage
        self._watcher.look_again()

    def _round(self, suspects: Set[str]) -> UpdateOutcome:
        if self._tree.identity() is None:
            return UpdateOutcome(Changes(), "its folder does not exist")
        try:
            return UpdateOutcome(self._update(suspects))
        except (OSError, sqlite3.Error, DamagedIndex) as error:
            self._watcher.look_again(after=_RETRY_SECONDS)
            return UpdateOutcome(Changes(), "its index cannot be kept", f"in {self._folder}: {error}")

    def _update(self, suspects: Set[str]) -> Changes:
        distrusted, self._distrusted = self._distrusted, None
        if distrusted is not None:
            set_aside(self._folder, distrusted)
        try:
            return self._sync_with_index(suspects)
        except DamagedIndex as damage:
            set_aside(self._folder, damage)
        return self._sync_with_index(suspects)

    def _sync_with_index(self, suspects: Set[str]) -> Changes:
        with open_index(self._folder, self._stop) as index:
            return self._sync.update(index, suspects)
