"""What is kept for clients that come back for it: events of sessions, results of tasks. Bounded over all."""

from __future__ import annotations

import logging
import sys
from collections import Counter, OrderedDict
from typing import Protocol

from .task import Task

_log = logging.getLogger(__name__)
EVENT_LIMIT = "limits.event_bytes"
TASK_LIMIT = "limits.task_bytes"


class Store(Protocol):
    """What keeps events."""

    def forget(self, event_id: str) -> None:
        """Keep that event no longer."""
        ...


class KeptEvents:
    """The events of every session, at most ``most`` bytes together; the oldest go first, the newest stays."""

    def __init__(self, most: int = sys.maxsize) -> None:
        self._most = most
        self._sizes: OrderedDict[tuple[Store, str], int] = OrderedDict()
        self._bytes = 0
        self._warned = False

    def add(self, store: Store, event_id: str, size: int) -> None:
        """``store`` keeps another event."""
        self._sizes[store, event_id] = size
        self._bytes += size
        while self._bytes > self._most and len(self._sizes) > 1:
            (holder, oldest), freed = self._sizes.popitem(last=False)
            self._bytes -= freed
            holder.forget(oldest)
            self._warn_once()

    def remove(self, store: Store, event_id: str) -> None:
        """``store`` has forgotten an event, if it was still kept."""
        self._bytes -= self._sizes.pop((store, event_id), 0)

    def _warn_once(self) -> None:
        if not self._warned:
            self._warned = True
            most = f"{self._most:,} bytes ({EVENT_LIMIT})"
            _log.warning("The events of all sessions take more than %s: the oldest are forgotten", most)


class Results(Protocol):
    """What keeps the results of tasks."""

    def forget(self, task: Task, why: str) -> None:
        """Keep that task no longer."""
        ...


class KeptResults:
    """The results of tasks, at most ``most`` bytes together; the oldest goes of whoever has the most."""

    def __init__(self, most: int = sys.maxsize) -> None:
        self._most = most
        self._kept: OrderedDict[Task, tuple[int, Results]] = OrderedDict()
        self._bytes_of: Counter[str | None] = Counter()

    def add(self, task: Task, size: int, results: Results) -> None:
        """``results`` keeps that of ``task``, of ``size`` bytes."""
        self._kept[task] = size, results
        self._bytes_of[task.owner] += size
        while self._bytes_of.total() > self._most:
            owner, _ = self._bytes_of.most_common(1)[0]
            oldest = next(each for each in self._kept if each.owner == owner)
            holder = self._kept[oldest][1]
            self.remove(oldest)
            why = f"results of tasks may take {self._most:,} bytes ({TASK_LIMIT})"
            _log.warning("A task was forgotten before its time: %s", why)
            holder.forget(oldest, why)

    def remove(self, task: Task) -> None:
        """The result of ``task`` is not kept any more, if it was."""
        size, _ = self._kept.pop(task, (0, None))
        self._bytes_of[task.owner] -= size
        if not self._bytes_of[task.owner]:
            del self._bytes_of[task.owner]
