"""Tasks: calls whose result is fetched later (SEP-2663, io.modelcontextprotocol/tasks). Plain data, no MCP.

A task belongs to the principal that made it. The tasks of a server are bounded in number and in time.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from ..client import Answer, Question
from ..config import TaskConfig
from ..errors import RequestRefused
from . import jsonrpc
from ._kept import KeptResults

_log = logging.getLogger(__name__)

INVALID_PARAMS = -32602
_MOST_FORGOTTEN = 1_000
Status = Literal["working", "input_required", "completed", "failed", "cancelled"]
Told = Callable[["Task"], None]
Work = Callable[[], Awaitable[dict[str, Any]]]
Rendered = Callable[[Mapping[str, Question]], dict[str, Any]]


class Task:
    """One call and what became of it. ``told`` hears of every change of its status."""

    def __init__(self, owner: str | None, config: TaskConfig, told: Told) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.status: Status = "working"
        self.message: str | None = None
        self.questions: dict[str, Question] = {}
        self._config = config
        self._told = told
        self._created = self._updated = _now()
        self._outcome: dict[str, Any] = {}
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._running: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether its status is final."""
        return self.status not in ("working", "input_required")

    @property
    def result_bytes(self) -> int:
        """The size of its result as JSON; 0 while it has none."""
        result = self._outcome.get("result")
        return 0 if result is None else len(jsonrpc.dumps(result))

    def start(self, work: Work) -> None:
        """Run ``work``, whose result is the task's."""
        self._running = asyncio.get_running_loop().create_task(self._run(work))

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """Wait until the client has answered ``questions``; those of before are not asked again."""
        loop = asyncio.get_running_loop()
        for key, question in questions.items():
            if key not in self._answers:
                self._answers[key] = loop.create_future()
                self.questions[key] = question
        if self.questions:
            self._become("input_required")
        return {key: await asyncio.shield(self._answers[key]) for key in questions}

    def answer(self, answers: Mapping[str, Answer]) -> None:
        """Take the answers to open questions; what else is there is ignored."""
        for key in answers.keys() & self.questions.keys():
            del self.questions[key]
            self._answers[key].set_result(answers[key])
        if not self.questions and self.status == "input_required":
            self._become("working")

    def cancel(self) -> None:
        """End the call, unless it has ended."""
        if not self.over:
            self._end("cancelled")
            if self._running is not None:
                self._running.cancel()

    async def settled(self, seconds: float) -> None:
        """Wait until its call runs no more, for ``seconds`` at most."""
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=seconds)

    def seed(self) -> dict[str, Any]:
        """``Task``: what a client is told of it at first."""
        return {
            "taskId": self.id,
            "status": self.status,
            **({} if self.message is None else {"statusMessage": self.message}),
            "createdAt": self._created,
            "lastUpdatedAt": self._updated,
            "ttlMs": self._config.ttl_ms,
            "pollIntervalMs": self._config.poll_interval_ms,
        }

    def detailed(self, rendered: Rendered) -> dict[str, Any]:
        """``DetailedTask``: with its result or error, or its open questions as they are ``rendered``."""
        asked = {"inputRequests": rendered(self.questions)} if self.questions and not self.over else {}
        return {**self.seed(), **self._outcome, **asked}

    async def _run(self, work: Work) -> None:
        try:
            result = await work()
        except RequestRefused as refused:
            more = {} if refused.data is None else {"data": refused.data}
            self._end("failed", error={"code": refused.code, "message": refused.message, **more})
        except Exception:
            _log.exception("a task failed")
            self._end("failed", error={"code": jsonrpc.INTERNAL_ERROR, "message": "Internal error"})
        else:
            self._end("completed", result=result)

    def _end(self, status: Status, **outcome: Any) -> None:
        if not self.over:
            self._outcome = outcome
            self._become(status)

    def _become(self, status: Status) -> None:
        self.status = status
        self._updated = _now()
        self._told(self)


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
        self._listeners: dict[object, Told] = {}

    def make(self, owner: str | None, config: TaskConfig) -> Task:
        """A task that can be found from now on. Raises ``RequestRefused`` when there are too many."""
        most = self._most()
        if len(self._by_id) >= most:
            raise _too_many(f"limits.tasks is {most:,}")
        if owner is not None and self._count_of[owner] >= max(1, most // 2):
            raise _too_many(f"one principal may have half of limits.tasks, which is {most:,}")
        task = Task(owner, config, self._tell)
        timer = asyncio.get_running_loop().call_later(config.ttl_ms / 1000, self.discard, task)
        self._by_id[task.id] = task, timer
        self._count_of[owner] += 1
        return task

    def find(self, task_id: str, owner: str | None) -> Task:
        """The task. Raises ``RequestRefused`` when it is unknown, over its time, or somebody else's."""
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
        """Forget ``task`` before its time; its owner is told ``why``."""
        self.discard(task)
        self._forgotten[task.id] = task.owner, why
        while len(self._forgotten) > _MOST_FORGOTTEN:
            self._forgotten.popitem(last=False)

    def subscribe(self, listener: Told) -> Callable[[], None]:
        """Tell ``listener`` of every task whose status changes, until what this gives is called."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def _tell(self, task: Task) -> None:
        for listener in list(self._listeners.values()):
            listener(task)
        if task.id in self._by_id and (size := task.result_bytes):
            self._results.add(task, size, self)


def _too_many(why: str) -> RequestRefused:
    return RequestRefused(jsonrpc.INTERNAL_ERROR, f"Too many tasks: {why}; try again later")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
