"""Long work in slices, so that other tasks can run in between."""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import TypeVar

import anyio.lowlevel

_SLICE_SECONDS = 0.005
_MANY = 2_000

_SHOWN = 20

T = TypeVar("T")


class Slices:
    """Work that goes on for long: ``pause`` between its parts lets whatever waits be done, every some
    milliseconds. A source that has much ready never waits by itself."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + _SLICE_SECONDS

    async def pause(self) -> None:
        """Let others run, if the slice is over."""
        if time.monotonic() >= self._ends:
            await anyio.lowlevel.checkpoint()
            self._ends = time.monotonic() + _SLICE_SECONDS


async def in_slices(items: Iterable[T]) -> AsyncIterator[T]:
    """Each of ``items``; whatever was waiting is done after some milliseconds of work on them."""
    slices = Slices()
    for item in without_pauses(items):
        yield item
        await slices.pause()


def without_pauses(items: Iterable[T]) -> Iterator[T]:
    """Each of ``items``, of which something is kept; also in a thread.

    Among very many objects each look for cyclic garbage takes a second, with everything else at a stand. What
    has been made so far is taken out of it each time that many are done. It is freed like all else when
    nothing refers to it any more, but for cycles.
    """
    for number, item in enumerate(items, start=1):
        yield item
        if number % _MANY == 0:
            gc.freeze()


def some(texts: Sequence[str]) -> list[str]:
    """The first of ``texts``, and the number of the others."""
    more = len(texts) - _SHOWN
    return [*texts[:_SHOWN], *([f"and {more} more of that kind"] if more > 0 else [])]
