"""Removes the conversations that are older, or more, than is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from toolspan_server.common.state.private_files import list_private

from ..errors import BusyError
from .files import bytes_beside
from .store import SUFFIX, ConversationStore, Entry

__all__ = ["Kept", "prune"]

_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept: conversations of the last ``days``, and the latest that have ``total_bytes`` together;
    ``None`` is no bound."""

    days: int | None = None
    total_bytes: int | None = None

    def may_be_exceeded(self, folder: Path, now: float) -> bool:
        """Whether ``folder`` may hold more than that: found out without reading any file."""
        try:
            logs = [(found, path) for path, found in list_private(folder) if path.suffix == SUFFIX]
        except OSError:
            return False
        oldest = min((status.st_mtime for status, _ in logs), default=now)
        size = sum(status.st_size + bytes_beside(path) for status, path in logs)
        return self._is_old(oldest, now) or self._is_too_much(size)

    def beyond(self, entries: Iterable[Entry], now: float, spare: str = "") -> list[Entry]:
        """Those of ``entries``, the latest first, that are not kept; the conversation ``spare`` is."""
        total, removed = 0, list[Entry]()
        for entry in entries:
            if entry.head.id == spare:
                total += entry.size
            elif self._is_old(entry.changed, now) or self._is_too_much(total + entry.size):
                removed.append(entry)
            else:
                total += entry.size
        return removed

    def _is_old(self, changed: float, now: float) -> bool:
        return self.days is not None and now - changed > self.days * _DAY_SECONDS

    def _is_too_much(self, size: int) -> bool:
        return self.total_bytes is not None and size > self.total_bytes


def prune(
    store: ConversationStore, kept: Kept, now: float, *, spare: str = "", dry_run: bool = False
) -> list[Entry]:
    """Remove from ``store`` what is not ``kept`` at the time ``now`` (seconds since 1970); returns what was.

    The conversation ``spare``, and those that a process goes on with, stay. Raises ``StoreError``.
    """
    removed: list[Entry] = []
    for entry in kept.beyond(store.entries(), now, spare):
        try:
            if not dry_run:
                store.delete(entry)
        except BusyError:
            continue
        removed.append(entry)
    return removed
