"""The workers of a server: few, made when they are needed, shared fairly among the handlers."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Coroutine
from typing import Any

import anyio

from ...calls.context import Context
from ...errors import ToolFailure
from ._framing import Message
from ._limits import ProcessLimits
from ._result_encoding import OutOfMemory, decoded_result
from ._worker import Worker, WorkerEnded

_log = logging.getLogger(__name__)
_IDLE_S = 120.0
"""How long a worker that nobody needs is kept."""


class Pool:
    """At most ``limits.processes`` workers. Of several, one handler takes all but one.

    Calls wait in the order in which they came, but the handlers take turns: many calls of one do not delay
    the first of another.
    """

    def __init__(self, limits: ProcessLimits) -> None:
        self._limits = limits
        self._most_of_one = max(1, limits.processes - 1)
        self._idle: deque[tuple[Worker, asyncio.TimerHandle]] = deque()
        self._workers: set[Worker] = set()
        self._busy: Counter[str] = Counter()
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._number = 0

    async def run(self, owner: str, message: Message, context: Context) -> Any:
        """The result of the call ``message`` of the handler ``owner``, or raises what that raised.

        Raises ``ToolFailure`` when the worker ends with the call.
        """
        await self._turn(owner)
        try:
            worker = await self._worker()
        except BaseException:
            self._left(owner)
            raise
        try:
            reply = await worker.call(message, context)
        except asyncio.CancelledError:
            self._later(self._given_up(owner, worker))
            raise
        except WorkerEnded as ended:
            self._later(self._dropped(owner, worker))
            raise self._failure(str(ended)) from None
        except BaseException:
            self._later(self._dropped(owner, worker))
            raise
        self._kept(owner, worker, whole="out_of_memory" not in reply)
        try:
            return decoded_result(reply)
        except OutOfMemory:
            raise self._out_of_memory() from None

    def renew(self) -> None:
        """Have new workers make the calls from now on, which import the modules of handlers again."""
        for worker in self._workers:
            worker.fresh = False
        while self._idle:
            worker, timer = self._idle.pop()
            timer.cancel()
            self._later(self._ended(worker))

    async def aclose(self) -> None:
        """End every worker, and what they do."""
        while self._idle:
            self._idle.pop()[1].cancel()
        async with anyio.create_task_group() as group:
            for worker in list(self._workers):
                group.start_soon(self._ended, worker)
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _worker(self) -> Worker:
        while self._idle:
            worker, timer = self._idle.pop()
            timer.cancel()
            if not worker.is_gone:
                return worker
            self._workers.discard(worker)
        self._number += 1
        try:
            worker = await Worker.started(self._limits)
        except (OSError, WorkerEnded) as error:
            raise ToolFailure(
                f"A worker process cannot be started: {error}",
                error_code="worker_ended",
                user_action="Look at the server's log, or set implementation.isolation: thread for the tool.",
            ) from None
        self._workers.add(worker)
        return worker

    async def _turn(self, owner: str) -> None:
        """Wait until ``owner`` may use one more worker."""
        if self._may_run(owner) and owner not in self._lines:
            self._busy[owner] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(owner, turn)
            else:
                self._left(owner)
            raise

    def _may_run(self, owner: str) -> bool:
        return self._busy.total() < self._limits.processes and self._busy[owner] < self._most_of_one

    def _left(self, owner: str) -> None:
        """A worker is free: for the handler whose turn it is."""
        self._busy[owner] -= 1
        if not self._busy[owner]:
            del self._busy[owner]
        for each in list(self._lines):
            if not self._may_run(each):
                continue
            line = self._lines.pop(each)
            turn = line.popleft()
            if line:
                self._lines[each] = line
            self._busy[each] += 1
            turn.set_result(None)

    def _forget(self, owner: str, turn: asyncio.Future[None]) -> None:
        line = self._lines.get(owner)
        if line is not None and turn in line:
            line.remove(turn)
            if not line:
                del self._lines[owner]

    def _kept(self, owner: str, worker: Worker, *, whole: bool) -> None:
        """The worker can make another call, unless it is not ``whole`` or a later one takes its place."""
        if not whole or not worker.fresh:
            self._later(self._dropped(owner, worker))
            return
        timer = asyncio.get_running_loop().call_later(_IDLE_S, self._unused, worker)
        self._idle.append((worker, timer))
        self._left(owner)

    def _unused(self, worker: Worker) -> None:
        for each in list(self._idle):
            if each[0] is worker:
                self._idle.remove(each)
                self._later(self._ended(worker))

    async def _given_up(self, owner: str, worker: Worker) -> None:
        if await worker.given_up():
            self._kept(owner, worker, whole=True)
        else:
            self._workers.discard(worker)
            self._left(owner)

    async def _dropped(self, owner: str, worker: Worker) -> None:
        await self._ended(worker)
        self._left(owner)

    async def _ended(self, worker: Worker) -> None:
        await worker.end()
        self._workers.discard(worker)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a worker process could not be ended", exc_info=task.exception())

    def _failure(self, how: str) -> ToolFailure:
        hint = ""
        if how == "by signal SIGXCPU":
            hint = f" (limits.handler_cpu_seconds is {self._limits.cpu_seconds:,})"
        elif how == "by signal SIGKILL":
            memory = _size(self._limits.memory_bytes)
            hint = f" (from outside, or for lack of memory; limits.handler_memory_bytes is {memory})"
        return ToolFailure(
            f"The worker process of the handler ended {how}{hint}",
            error_code="worker_ended",
            user_action="Try a smaller request; the server's standard error may have the details.",
        )

    def _out_of_memory(self) -> ToolFailure:
        return ToolFailure(
            f"The handler had not enough memory: limits.handler_memory_bytes is "
            f"{_size(self._limits.memory_bytes)}",
            error_code="out_of_memory",
            user_action="Try a smaller request, or raise the limit in the config.",
        )


def _size(count: int) -> str:
    return f"{count:,} ({count >> 20:,} MiB)"
