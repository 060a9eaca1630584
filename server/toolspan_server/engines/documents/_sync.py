"""An index made equal to its folder, by reading only what is new or changed."""

from __future__ import annotations

import logging
from collections.abc import Set
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import PurePosixPath
from threading import Event

from ...common.json_values import shortened
from ._document import HEADING_CHARACTERS, UnreadableFile
from ._folder import DocumentFolder, Entry, shown
from ._index import Index
from ._passages import passages
from ._readers import read_document, size_limit

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Changes:
    """How many files an update read into the index, found unchanged, dropped and could not read."""

    indexed: int = 0
    unchanged: int = 0
    dropped: int = 0
    skipped: int = 0


@dataclass
class Sync:
    """Keeps in mind which files were skipped and why, so that each is warned of once."""

    tree: DocumentFolder
    stop: Event
    _warned: dict[str, str] = field(default_factory=dict[str, str])
    _changes: Changes = field(default_factory=Changes)

    def update(self, index: Index, suspects: Set[str] = frozenset()) -> Changes:
        """Bring ``index`` up to date. Files in ``suspects`` are read even if their stamp is unchanged.

        Ends early, between two files, when ``stop`` is set.
        """
        known = index.files()
        self._changes = changes = Changes()
        gone = set(known)
        for entry in self.tree.entries(self._skip, self.stop):
            if self.stop.is_set():
                return changes
            stamp, digest = known.get(entry.path, ("", b""))
            if entry.path not in suspects and stamp and stamp == entry.stamp:
                changes.unchanged += 1
            elif not self._refresh(index, entry, stamp, digest):
                continue
            gone.discard(entry.path)
        if self.tree.identity() is not None and not self.stop.is_set():
            for path in sorted(gone):
                index.drop(path)
                changes.dropped += 1
        return changes

    def _refresh(self, index: Index, entry: Entry, stamp: str, digest: bytes) -> bool:
        """Read one file and index it if its content is new. False when it cannot be read."""
        try:
            data = self.tree.read(entry.path, size_limit(entry.path))
            found = blake2b(data, digest_size=32).digest()
            if found == digest:
                if stamp != entry.stamp:
                    index.settle(entry.path, entry.stamp)
                self._changes.unchanged += 1
                return True
            document = read_document(entry.path, data, self.stop)
        except UnreadableFile as reason:
            self._skip(entry.path, str(reason))
            return False
        except RecursionError:
            self._skip(entry.path, "nested too deeply")
            return False
        name = PurePosixPath(shown(entry.path)).stem
        title = f"{shortened(document.title, HEADING_CHARACTERS)} · {name}" if document.title else name
        index.put(entry.path, entry.stamp, found, title, passages(document))
        self._warned.pop(entry.path, None)
        self._changes.indexed += 1
        return True

    def _skip(self, path: str, reason: str) -> None:
        self._changes.skipped += 1
        if not self.stop.is_set() and self._warned.get(path) != reason:
            self._warned[path] = reason
            _log.warning("collection %r: left out %r: %s", self.tree.name, shown(path), reason)
