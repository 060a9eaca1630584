"""Makes the trials of a plan: several at once of each provider, each kept before it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import anyio

from ...errors import AuthError, BridgeError, UnknownModelError, UnreachableError
from ...loop.limits import CostLimitError
from ..storage.store import Store
from ..storage.trial import Trial
from .events import OnEvent, TrialFinished, TrialStarted
from .limits import Budget, Ended, paying
from .plan import Cell
from .writer import TrialWriter

__all__ = ["Lane", "Made", "Scheduler", "TryCell"]

TryCell = Callable[[Cell], Awaitable[Trial]]
"""Makes a planned trial. Raises ``AuthError``, ``UnreachableError`` and ``UnknownModelError``: they end the
trials of that model."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Trials that share a provider: ``cells``, of which up to ``slots`` run at once. With one slot each is
    kept before the next begins."""

    cells: Iterator[Cell]
    slots: int


@dataclass(frozen=True, slots=True)
class Made:
    """The trials that were made, as they were kept; what ended the trials of a model early (``failed``); why
    no more were begun (``ended``)."""

    trials: Sequence[Trial]
    failed: Mapping[str, BridgeError]
    ended: Ended


class Scheduler:
    """Makes trials by ``try_cell`` as long as ``budget`` lets it, and keeps them in ``store``.

    ``total`` is the size of the plan, for ``on_event``.
    """

    def __init__(
        self, try_cell: TryCell, store: Store, budget: Budget, on_event: OnEvent, total: int
    ) -> None:
        self._try_cell = try_cell
        self._store = store
        self._budget = budget
        self._on_event = on_event
        self._total = total
        self._kept: list[Trial] = []
        self._failed: dict[str, BridgeError] = {}
        self._ended: Ended = ""
        self._fault: Exception | None = None

    async def run(self, lanes: Sequence[Lane]) -> Made:
        """Make the trials of all ``lanes``. Raises ``StoreError`` when one cannot be kept."""
        async with anyio.create_task_group() as writing, TrialWriter(self._store, self._told) as writer:
            scope = writing.cancel_scope
            writing.start_soon(self._carried, writer.run, scope)
            with anyio.CancelScope(deadline=self._budget.deadline) as timed:
                async with anyio.create_task_group() as making:
                    for lane in lanes:
                        for _ in range(lane.slots):
                            making.start_soon(self._worker, lane, writer, scope)
            if timed.cancelled_caught:
                self._ended = "max_time"
        if self._fault is not None:
            raise self._fault
        return Made(self._kept, self._failed, self._ended)

    async def _worker(self, lane: Lane, writer: TrialWriter, scope: anyio.CancelScope) -> None:
        cell_by_cell = lane.slots == 1

        async def work() -> None:
            for cell in lane.cells:
                if cell.model in self._failed:
                    continue
                if ended := self._budget.ended:
                    self._ended = ended
                    return
                await self._make(cell, writer, cell_by_cell=cell_by_cell)

        await self._carried(work, scope)

    async def _make(self, cell: Cell, writer: TrialWriter, *, cell_by_cell: bool) -> None:
        self._on_event(TrialStarted(cell.model, cell.scenario.title, cell.number, self._total))
        usd: float | None = None
        paid = paying.set(self._budget.spending)
        try:
            trial = await self._try_cell(cell)
            usd = trial.usd
        except CostLimitError:
            self._ended = "max_cost"
            return
        except (AuthError, UnreachableError, UnknownModelError) as error:
            self._failed.setdefault(cell.model, error)
            return
        finally:
            paying.reset(paid)
            self._budget.finished(usd)
        await writer.keep(trial, at_once=cell_by_cell)

    def _told(self, trial: Trial) -> None:
        self._kept.append(trial)
        self._on_event(TrialFinished(trial, trial.number, self._total))

    async def _carried(self, work: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
        """``work``, whose exception is carried past the task groups, which would wrap it."""
        try:
            await work()
        except Exception as fault:
            self._fault = self._fault or fault
            scope.cancel()
