"""Writes the trials of a run: those that end together in one commit, so that no trial waits for another's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import anyio
import anyio.to_thread

from ..storage.store import Store
from ..storage.trial import Trial

__all__ = ["Append", "TrialWriter"]

_TOGETHER = 256
_WAITING = 1_024
_GATHER_S = 0.025
_MOST_GATHER_S = 0.2
"""So long trials are gathered for a commit, which costs as much as some of them, unless one is waited for: as
long as the last commit took, in these bounds, so that writers who wait for each other write less often."""


Append = Callable[[Sequence[Trial]], Awaitable[list[Trial]]]
"""Writes trials together, and gives them as they were written. Raises ``StoreError``."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A trial to be written, none where only the others are waited for, and what is set once it is."""

    trial: Trial | None
    kept: anyio.Event | None


class TrialWriter:
    """Writes trials into ``store``, or by ``append``, and tells ``on_kept`` of each as it was written, once
    it is on the disk.

    An async context manager: ``run`` writes until the block ends, and what was given by then is written also
    when the block is cancelled.
    """

    def __init__(self, store: Store, on_kept: Callable[[Trial], None], append: Append | None = None) -> None:
        self._append = append or partial(_appended, store)
        self._on_kept = on_kept
        self._send, self._receive = anyio.create_memory_object_stream[_Given](_WAITING)
        self._hurry = anyio.Event()
        self._is_over = False
        self._gather = _GATHER_S

    async def keep(self, trial: Trial, *, at_once: bool = False) -> None:
        """Have ``trial`` written soon; waits only where far too many are, or until it is if ``at_once``."""
        await self._give(_Given(trial, anyio.Event() if at_once else None), at_once=at_once)

    async def written(self, *, at_once: bool = False) -> None:
        """Wait until all is written that was given so far; ``at_once`` where no more comes meanwhile, so that
        there is nothing to gather."""
        await self._give(_Given(None, anyio.Event()), at_once=at_once)

    async def _give(self, given: _Given, *, at_once: bool) -> None:
        try:
            self._send.send_nowait(given)  # no checkpoint: what was made is kept also when all is cancelled
        except anyio.WouldBlock:
            await self._send.send(given)
        if at_once:
            self._hurry.set()
        if given.kept is not None:
            await given.kept.wait()

    async def run(self) -> None:
        """Write what is given, until the block ends. Raises ``StoreError``."""
        with anyio.CancelScope(shield=True):
            async with self._receive:
                async for first in self._receive:
                    with anyio.move_on_after(self._gather):
                        await self._hurry.wait()
                    if not self._is_over:
                        self._hurry = anyio.Event()
                    began = anyio.current_time()
                    await self._write([first, *self._waiting()])
                    self._gather = min(max(anyio.current_time() - began, _GATHER_S), _MOST_GATHER_S)

    def _waiting(self) -> list[_Given]:
        found: list[_Given] = []
        while len(found) < _TOGETHER - 1:
            try:
                found.append(self._receive.receive_nowait())
            except (anyio.WouldBlock, anyio.EndOfStream):
                break
        return found

    async def _write(self, given: list[_Given]) -> None:
        trials = [each.trial for each in given if each.trial is not None]
        if trials:
            for trial in await self._append(trials):
                self._on_kept(trial)
        for each in given:
            if each.kept is not None:
                each.kept.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over = True
        self._hurry.set()
        await self._send.aclose()


async def _appended(store: Store, trials: Sequence[Trial]) -> list[Trial]:
    return await anyio.to_thread.run_sync(store.append_all, trials)
