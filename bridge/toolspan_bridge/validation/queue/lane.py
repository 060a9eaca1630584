"""A worker's part of a run's trials with one model: the jobs of one of procrastinate's queues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...errors import AuthError, BridgeError, UnknownModelError, UnreachableError
from ..runs.limits import Ended, Stop
from ..runs.one_trial import run_cell
from ..runs.writer import TrialWriter
from ..storage.store import Store
from .connection import Queue
from .parcel import Batch
from .spending import SharedBudget
from .state import end_run
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


@dataclass(eq=False, slots=True)
class Lane:
    """The trials of ``run`` with ``model`` at this worker, of the queue ``name``; as many of its jobs run at
    once as are ``allotted``. ``error`` ended them here."""

    means: Means
    name: str
    run: RunHere
    model: str
    account: Account
    budget: SharedBudget
    allotted: int = 0
    running: int = 0
    made: int = 0
    error: BridgeError | None = None
    task: asyncio.Task[None] | None = None
    scopes: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])

    async def make(self, batch: Batch, *, again: bool) -> None:
        """Make the trials of ``batch`` one after another, and return once they are in ``store``.

        ``again``: another worker had the job before. Raises ``GivenBack`` where it is not done to the end.
        """
        self.running += 1
        try:
            with anyio.CancelScope() as scope:
                self.scopes.add(scope)
                try:
                    await self._make(batch, again=again)
                finally:
                    self.scopes.discard(scope)
            if scope.cancelled_caught:
                raise GivenBack
        finally:
            self.running -= 1

    async def _make(self, batch: Batch, *, again: bool) -> None:
        store, writer, stop = self.means.store, self.means.writer, self.means.stop
        done = await anyio.to_thread.run_sync(store.done, self.run.id) if again else frozenset[int]()
        for number in batch.numbers:
            if number in done:
                continue
            async with self.account.limiter:
                if stop.is_asked or self.error is not None:
                    await writer.written()
                    raise GivenBack
                if ended := await self._try(number):
                    await end_run(self.means.queue, self.run.id, ended)
                    break
        await writer.written()

    async def _try(self, number: int) -> Ended:
        """Make the trial of that number; why it was not begun or not ended, where a limit is reached."""
        if ended := await self.budget.begin():
            return ended
        usd: float | None = None
        writer = self.means.writer
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
            await writer.written()
            raise GivenBack from None
        finally:
            with anyio.CancelScope(shield=True):
                await self.budget.finished(usd)
        return "max_time" if timed.cancelled_caught else ""
