"""A call whose task is kept while it runs, so that a restarted bridge takes it up again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from toolspan_server.engines.upstreams import CallRefused, ServerGone, UpstreamResult

from ..client import KeptTasks
from ..errors import StoreError
from ._active_call import ActiveCall
from ._server_task import TaskFailed

_DAY_SECONDS = 86_400.0

Wait = Callable[[str], Awaitable[UpstreamResult]]
"""Waits for the result of the task of that id."""


class KeptCall:
    """The call ``key``, in ``tasks`` if there are such. A file that cannot be used is told, once."""

    def __init__(self, tasks: KeptTasks | None, call: ActiveCall, key: str) -> None:
        self._tasks = tasks
        self._call = call
        self._key = key

    async def taken_up(self, wait: Wait) -> UpstreamResult | None:
        """The result of the task that the call runs as already; ``None`` where the call is to be made, as the
        server knows of no such task. Raises what ``wait`` does."""
        task = None
        with self._told():
            task = None if self._tasks is None else self._tasks.find(self._key)
        if task is None:
            return None
        try:
            return await self.run(task, wait)
        except TaskFailed:
            raise
        except CallRefused:
            return None

    async def run(self, task: str, wait: Wait) -> UpstreamResult:
        """The result of ``task``, which is kept until it has ended: also when its server is gone for now."""
        tasks = self._tasks
        if tasks is None:
            return await wait(task)
        with self._told():
            tasks.keep(self._key, task, _DAY_SECONDS)
        try:
            result = await wait(task)
        except ServerGone:
            raise
        except BaseException:
            with self._told():
                tasks.forget(self._key)
            raise
        with self._told():
            tasks.forget(self._key)
        return result

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except StoreError as error:
            self._tasks = None
            self._call.tell(str(error))
