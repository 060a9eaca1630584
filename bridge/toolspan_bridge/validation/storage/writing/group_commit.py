"""Many threads' writes in few transactions: who waits for the writer is written with the next one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ....errors import StoreError

__all__ = ["GroupCommit"]

_T = TypeVar("_T")
_MOST = 500


@dataclass(slots=True, eq=False)
class _Waiting(Generic[_T]):
    item: _T
    outcome: list[_T | BaseException] = field(default_factory=list[Any])


class GroupCommit(Generic[_T]):
    """Gives items of several threads to ``write``, as many at a time as have come meanwhile, in their order.

    ``write`` gives for each item what was kept; when it returns, all of them are durable, or it raises and
    none is written. One thread at a time runs it.
    """

    def __init__(self, write: Callable[[Sequence[_T]], Sequence[_T]]) -> None:
        self._write = write
        self._writer = threading.Lock()
        self._queue: deque[_Waiting[_T]] = deque()

    def __call__(self, item: _T) -> _T:
        """Write ``item``, perhaps with those of other threads; what was kept. Raises as ``write``."""
        mine = _Waiting(item)
        self._queue.append(mine)
        with self._writer:
            while not mine.outcome:
                self._write_next()
        (outcome,) = mine.outcome
        if isinstance(outcome, StoreError):
            raise StoreError(outcome.message) from outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _write_next(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(_MOST, len(self._queue)))]
        try:
            for each, kept in zip(batch, self._write([each.item for each in batch]), strict=True):
                each.outcome.append(kept)
        except BaseException as error:
            for each in batch:
                each.outcome[:] = [error]
            if not isinstance(error, Exception):
                raise
