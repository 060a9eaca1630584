"""A submitted batch: asked how far it is until it has ended, then its answers are collected, once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import anyio

from ....batch import Batch, BatchStatus, collect_batch, poll_batch
from ....errors import BridgeError, ProviderError, UnreachableError
from ....messages import Reply
from ....providers import Provider

__all__ = ["Submitted"]

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_MOST_FAULTS = 6
_SERVER_ERROR = 500

_T = TypeVar("_T")


class Submitted:
    """``batch`` at ``provider``, kept in the file ``path``. ``say`` is told how far it is when that changes.
    ``follow`` fetches the answers, for ``answer``."""

    def __init__(self, provider: Provider, batch: Batch, path: Path, say: Callable[[str], None]) -> None:
        self.batch = batch
        self.path = path
        self._provider = provider
        self._say = say
        self._ended = anyio.Event()
        self._answers: Mapping[str, Reply | BridgeError] = {}
        self._fault: BridgeError | None = None

    @property
    def name(self) -> str:
        """What the batch is called in messages."""
        return f"the batch {self.batch.id} of {self.batch.provider}/{self.batch.model}"

    @property
    def has_ended(self) -> bool:
        """Whether it is known that the batch has ended."""
        return self._ended.is_set() and self._fault is None

    async def answer(self, key: str) -> Reply | BridgeError:
        """What came of the request ``key``, once the batch has ended. Raises what hindered to know it."""
        await self._ended.wait()
        if self._fault is not None:
            raise self._fault
        return self._answers[key]

    async def follow(self) -> None:
        """Wait until the batch has ended, and collect its answers; what hinders that is raised by
        ``answer``."""
        try:
            status = await self._finished()
            self._answers = await self._lasting(collect_batch)
            self._say(f"{self.name}: {_words(status)}")
        except BridgeError as fault:
            self._fault = fault
        finally:
            self._ended.set()

    async def _finished(self) -> BatchStatus:
        wait, told = _FIRST_WAIT, ""
        while True:
            status = await self._lasting(poll_batch)
            if status.finished:
                return status
            if (words := _words(status)) != told:
                self._say(f"waits for {self.name}: {words}")
                told = words
            await anyio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _lasting(self, step: Callable[[Provider, Batch], Awaitable[_T]]) -> _T:
        """What ``step`` gives; where the provider does not answer for a while, it is asked again."""
        wait = _FIRST_WAIT
        for _ in range(_MOST_FAULTS):
            try:
                return await step(self._provider, self.batch)
            except UnreachableError as fault:
                self._say(f"{self.name} cannot be asked for: {fault.message}; again in {wait:g} s")
            except ProviderError as fault:
                if (fault.status or 0) < _SERVER_ERROR:
                    raise
                self._say(f"{self.name} cannot be asked for: {fault.message}; again in {wait:g} s")
            await anyio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
        return await step(self._provider, self.batch)


def _words(status: BatchStatus) -> str:
    failed = f", {status.failed:,} failed" if status.failed else ""
    return f"{status.state}, {status.succeeded:,} of {status.total:,} answered{failed}"
