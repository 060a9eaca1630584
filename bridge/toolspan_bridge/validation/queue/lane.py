"""A worker's part of a run's trials with one model: the jobs of one of procrastinate's queues."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from ...errors import AuthError, BridgeError, UnknownModelError, UnreachableError
from ...loop.limits import CostLimitError
from ..runs.limits import Ended, Stop, paying
from ..runs.one_trial import run_cell
from ..runs.writer import TrialWriter
from ..storage.store import Store
from .connection import Queue
from .parcel import Batch
from .spending import QueueFailedError, SharedBudget
from .state import end_run
from .steady import stored
from .taking_part import RunHere

if TYPE_CHECKING:
    import asyncio

__all__ = ["Account", "GivenBack", "Lane", "Means"]


class GivenBack(Exception):
    """A job goes back to the queue: what is left of it is made by whoever takes it next."""


@dataclass(slots=True)
class Account:
    """Where models are asked, with the ``slots`` for trials at once there that this worker has."""

    slots: int
    limiter: anyio.CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        self.limiter = anyio.CapacityLimiter(self.slots)


@dataclass(frozen=True, slots=True)
class Means:
    """What a worker makes trials with: the ``queue``, the ``store`` they go to and who writes them there, and
    what ends it."""

    queue: Queue
    store: Store
    writer: TrialWriter
    stop: Stop

    def gives_up(self) -> bool:
        """Whether a server that is away is not waited for."""
        return self.stop.is_asked


@dataclass(eq=False, slots=True)
class Lane:
    """The trials of ``run`` with ``model`` at this worker, of the queue ``name``; as many of them run at once
    as are ``allotted``. ``error`` ended them here; once it ``is_over`` no job is fetched. A job has about
    ``size`` trials; those ``held`` are not done yet, nor are so many trials of them that are ``running``."""

    means: Means
    name: str
    run: RunHere
    model: str
    account: Account
    budget: SharedBudget
    size: int = 1
    allotted: int = 0
    held: int = 0
    running: int = 0
    made: int = 0
    error: BridgeError | None = None
    is_over: bool = False
    task: asyncio.Task[None] | None = None
    scopes: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])

    @property
    def jobs(self) -> int:
        """How many jobs are had at once: one more than keep all slots at work, so that none waits for the
        next job to come."""
        return math.ceil(self.allotted / self.size) + 2

    @property
    def busy(self) -> int:
        """How many slots the trials of its jobs take that have not ended."""
        return min(self.running, self.allotted)

    async def make(self, batch: Batch, *, again: bool) -> None:
        """Make the trials of ``batch``, and return once they are in ``store``.

        ``again``: another worker had the job before. Raises ``GivenBack`` where it is not done to the end.
        """
        work = _Work(self, iter(batch.numbers), len(batch.numbers))
        self.held += 1
        self.running += work.left
        try:
            with anyio.CancelScope() as scope:
                self.scopes.add(scope)
                try:
                    await work.make(again=again)
                finally:
                    self.scopes.discard(scope)
            if scope.cancelled_caught:
                raise GivenBack
        finally:
            self.held -= 1
            self.running -= work.left

    async def try_number(self, number: int) -> Ended:
        """Make the trial of that number; why it was not begun or not ended, where a limit is reached."""
        if ended := await self.budget.begin():
            return ended
        usd: float | None = None
        writer = self.means.writer
        paid = paying.set(self.budget)
        try:
            with anyio.CancelScope(deadline=self.run.deadline) as timed:
                cell = self.run.plan.cell(number)
                trial = await run_cell(
                    cell, self.run.asker.ask, self.run.fingerprints, self.run.parcel.timeout, self.run.id
                )
                usd = trial.usd
                await writer.keep(trial)
                self.made += 1
        except (AuthError, UnreachableError, UnknownModelError) as error:
            self.error = self.error or error
            return ""
        except CostLimitError:
            return "max_cost"
        except QueueFailedError as failed:
            raise failed.error from None
        finally:
            paying.reset(paid)
            with anyio.CancelScope(shield=True):
                await self.budget.finished(usd)
        return "max_time" if timed.cancelled_caught else ""


@dataclass(eq=False, slots=True)
class _Work:
    """The trials of a job, ``left`` of which have not ended: of the planned ``numbers`` as many at once as
    there are slots. ``fault`` ended it."""

    lane: Lane
    numbers: Iterator[int]
    left: int
    ended: Ended = ""
    fault: Exception | None = None

    async def make(self, *, again: bool) -> None:
        """Make them. Raises ``GivenBack`` where trials are left to others; what fails at the queue."""
        lane, means = self.lane, self.lane.means
        if again:
            done = await stored(partial(means.store.done, lane.run.id), means.gives_up)
            self._without(done)
        async with anyio.create_task_group() as tasks:
            for _ in range(min(self.left, lane.account.slots)):
                tasks.start_soon(self._go_on)
        if self.fault is not None:
            raise self.fault
        await means.writer.written(at_once=lane.running == 0)
        if self.left and not self.ended:
            raise GivenBack

    def _without(self, done: frozenset[int]) -> None:
        numbers = [number for number in self.numbers if number not in done]
        self.lane.running -= self.left - len(numbers)
        self.numbers, self.left = iter(numbers), len(numbers)

    async def _go_on(self) -> None:
        """Make one after another. After a fault none is begun; those that run are made to their end."""
        try:
            for number in self.numbers:
                async with self.lane.account.limiter:
                    if not self._goes_on:
                        return
                    if ended := await self.lane.try_number(number):
                        self.ended = ended
                        await end_run(self.lane.means.queue, self.lane.run.id, ended)
                        return
                if self.lane.error is None:
                    self.left -= 1
                    self.lane.running -= 1
        except Exception as fault:
            self.fault = self.fault or fault  # carried past the task group, which would wrap it

    @property
    def _goes_on(self) -> bool:
        halted = self.fault is not None or self.lane.error is not None or self.lane.means.stop.is_asked
        return not (self.ended or halted)
