"""The place of a call among those that run, which it leaves while it only waits."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

WAITED: ContextVar[float] = ContextVar("toolspan_waited", default=0.0)
"""For how long the call of the current task waited for its place, in seconds; ``inf``: for all its time."""


class CallSlot(Protocol):
    """The place of the call that the current task works for.

    ``refuses``: whether calls that find a line full are refused; else whoever brings them stops meanwhile.
    """

    @property
    def refuses(self) -> bool: ...

    def leave(self) -> None:
        """Let another call run meanwhile."""
        ...

    def enter(self) -> None:
        """Go on at once, also when that makes one more call than may run."""
        ...

    async def ready(self) -> None:
        """Return when whoever called takes answers."""
        ...


class NoSlot:
    """The place of calls that nobody counts."""

    refuses = True

    def leave(self) -> None:
        """Nothing."""

    def enter(self) -> None:
        """Nothing."""

    async def ready(self) -> None:
        """At once."""


class Branches:
    """What one call does at the same time: its place is left once, however many of its branches wait."""

    def __init__(self) -> None:
        self._away = 0

    def leave(self, place: CallSlot) -> None:
        """A branch waits."""
        self._away += 1
        if self._away == 1:
            place.leave()

    def enter(self, place: CallSlot) -> None:
        """A branch goes on."""
        self._away -= 1
        if not self._away:
            place.enter()


_branches: ContextVar[Branches | None] = ContextVar("toolspan_branches", default=None)


@contextmanager
def branching() -> Generator[None]:
    """What tasks that begin in the block do is done for one call."""
    if _branches.get() is not None:
        yield
        return
    token = _branches.set(Branches())
    try:
        yield
    finally:
        _branches.reset(token)


@contextmanager
def away(place: CallSlot) -> Generator[None]:
    """Leave ``place`` for as long as the block lasts."""
    branches = _branches.get()
    if branches is None:
        place.leave()
    else:
        branches.leave(place)
    try:
        yield
    finally:
        if branches is None:
            place.enter()
        else:
            branches.enter(place)
