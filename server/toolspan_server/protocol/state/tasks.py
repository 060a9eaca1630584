"""Tasks: calls whose result is fetched later (SEP-2663, io.modelcontextprotocol/tasks). Plain data, no MCP.

A task belongs to the principal that made it. The tasks of a server are bounded in number and in time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable

from ...config import TaskConfig
from ...errors import RequestRefused
from ..messages import jsonrpc
from .retention import KeptResults
from .task import OnChange, Task

_log = logging.getLogger(__name__)

INVALID_PARAMS = -32602
_MOST_FORGOTTEN = 1_000


class Tasks:
    """At most ``most`` tasks, each until its time is over; half of them at most belong to one principal.

    Their ``results`` are bounded with those of other endpoints.
    """

    def __init__(self, most: Callable[[], int], results: KeptResults | None = None) -> None:
        self._most = most
        self._results = results or KeptResults()
        self._by_id: dict[str, tuple[Task, asyncio.TimerHandle]] = {}
        self._count_of: Counter[str | None] = Counter()
        self._forgotten: OrderedDict[str, tuple[str | None, str]] = OrderedDict()
        self._listeners: dict[object, OnChange] = {}

    def make(self, owner: str | None, config: TaskConfig) -> Task:
        """A task that can be found from now on. Raises ``RequestRefused`` when there are too many."""
        most = self._most()
        if len(self._by_id) >= most:
            raise _too_many(f"limits.tasks is {most:,}")
        if owner is not None and self._count_of[owner] >= max(1, most // 2):
            raise _too_many(f"one principal may have half of limits.tasks, which is {most:,}")
        task = Task(owner, config, self._notify)
        timer = asyncio.get_running_loop().call_later(config.ttl_ms / 1000, self.discard, task)
        self._by_id[task.id] = task, timer
        self._count_of[owner] += 1
        return task

    def find(self, task_id: str, owner: str | None) -> Task:
        """The task. Raises ``RequestRefused`` when it is unknown, expired, or another principal's."""
        known = self._by_id.get(task_id)
        if known is not None and known[0].owner == owner:
            return known[0]
        forgotten = self._forgotten.get(task_id)
        why = f": {forgotten[1]}" if forgotten is not None and forgotten[0] == owner else ""
        raise RequestRefused(INVALID_PARAMS, f"Task not found{why}")

    def discard(self, task: Task) -> None:
        """Forget ``task``, and end it."""
        known = self._by_id.pop(task.id, None)
        if known is not None:
            known[1].cancel()
            task.cancel()
            self._results.remove(task)
            self._count_of[task.owner] -= 1
            if not self._count_of[task.owner]:
                del self._count_of[task.owner]

    def forget(self, task: Task, why: str) -> None:
        """Forget ``task`` before its time; its owner gets ``why``."""
        self.discard(task)
        self._forgotten[task.id] = task.owner, why
        while len(self._forgotten) > _MOST_FORGOTTEN:
            self._forgotten.popitem(last=False)

    def subscribe(self, listener: OnChange) -> Callable[[], None]:
        """Tell ``listener`` of every task whose status changes, until what this gives is called."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def _notify(self, task: Task) -> None:
        for listener in list(self._listeners.values()):
            listener(task)
        if task.id in self._by_id and (size := task.result_bytes):
            self._results.add(task, size, self)


def _too_many(why: str) -> RequestRefused:
    return RequestRefused(jsonrpc.INTERNAL_ERROR, f"Too many tasks: {why}; try again later")
