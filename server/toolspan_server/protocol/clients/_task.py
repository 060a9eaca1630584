"""The client of a call that is a task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from typing_extensions import override

from ...calls.client import (
    Capability,
    ClientAnswer,
    InputRequired,
    Level,
    Question,
)
from ..state.running_calls import WaitForClient
from ..state.task import Task
from ._round_trips import RoundsClient


class TaskClient:
    """Asks by way of ``task``, whose state the client fetches.

    While ``early``, nobody knows of the task: what is asked then ends the request, as in ``rounds``, whose
    answers and memory are there from the start. Progress is the task's message; log messages are not
    supported on tasks (SEP-2663, task status notifications).
    """

    def __init__(
        self, task: Task, rounds: RoundsClient, wait_for_client: WaitForClient, *, early: bool
    ) -> None:
        self.memory = rounds.memory
        self.early = early
        self._task = task
        self._rounds = rounds
        self._wait_for_client = wait_for_client

    def accepts(self, capability: Capability) -> bool:
        """Whether the client declared the capability."""
        return self._rounds.accepts(capability)

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, ClientAnswer]:
        """The answers, once the client has given them. Raises as ``RoundsClient.ask`` while ``early``."""
        try:
            return await self._rounds.ask(questions)
        except InputRequired as needed:
            if self.early:
                raise
            self._rounds.learn(await self._wait_for_client(partial(self._task.ask, needed.questions)))
        return await self._rounds.ask(questions)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Have ``message``, or how far it is, as the message of the task."""
        self._task.message = message or (f"{progress:g}" if total is None else f"{progress:g}/{total:g}")

    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        """Nothing."""

    async def release(self) -> None:
        """Nothing: there is no connection to let go of."""


class LateTaskClient(TaskClient):
    """The client of a call that may become a task while it runs: on its ``release``, which has ``make`` make
    the task and gives it to ``begun``. Until then it is the client ``rounds`` of the request."""

    def __init__(
        self, make: Callable[[], Task], rounds: RoundsClient, wait_for_client: WaitForClient
    ) -> None:
        self.memory = rounds.memory
        self.early = True
        self.begun: asyncio.Future[Task] = asyncio.get_running_loop().create_future()
        self._make = make
        self._rounds = rounds
        self._wait_for_client = wait_for_client

    @override
    def accepts(self, capability: Capability) -> bool:
        return capability == "task" or super().accepts(capability)

    @override
    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.early:
            await self._rounds.progress(progress, total, message)
        else:
            await super().progress(progress, total, message)

    @override
    async def log(self, level: Level, data: Any, logger: str | None = None) -> None:
        if self.early:
            await self._rounds.log(level, data, logger)

    @override
    async def release(self) -> None:
        """Go on as a task. Raises ``RequestRefused`` when there are too many."""
        if self.early:
            self._task = self._make()
            self.early = False
            self.begun.set_result(self._task)
