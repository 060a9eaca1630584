"""Pure work on data from outside, kept away from the event loop where there is much of it.

A thread does not make work faster, and Python's lock is shared: but the interpreter hands it on every
millisecond (``SWITCH_SECONDS``), so that others are served meanwhile, and few threads compute at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

T = TypeVar("T")

LARGE_BYTES = 16_384
"""Work on less is done at once: handing it to a thread and back takes about 0.2 ms."""
SWITCH_SECONDS = 0.001
"""How long a computing thread keeps Python's lock while the event loop wants it. With 24 computing handlers
and Python's 5 ms a request waited for 3 s; the loop wants the lock several times for each."""
_MOST_AT_ONCE = 2


def share_the_interpreter() -> None:
    """Let no thread of this process keep the event loop waiting for long."""
    sys.setswitchinterval(SWITCH_SECONDS)


async def run_beside(size: int, work: Callable[[], T]) -> T:
    """What ``work`` gives, which reads about ``size`` bytes and waits for nothing: done here, or, where that
    is much, in one of two threads. Once begun it is not cancelled; whoever is cancelled waits for its end.
    Raises ``TypeError`` for an iterator, whose work would be done by whoever reads it."""
    if size < LARGE_BYTES:
        found = work()
    else:
        from anyio import to_thread

        found = await to_thread.run_sync(work, limiter=_places())
    if isinstance(found, Iterator):
        raise TypeError(f"{work} gives an iterator: make what it gives, such as a tuple, in it")
    return found


@cache
def _limiter() -> RunVar[CapacityLimiter]:
    from anyio.lowlevel import RunVar

    return RunVar("places beside the loop")


def _places() -> CapacityLimiter:
    """The places of this event loop."""
    from anyio import CapacityLimiter

    known = _limiter().get(None)
    if known is None:
        known = CapacityLimiter(_MOST_AT_ONCE)
        _limiter().set(known)
    return known
