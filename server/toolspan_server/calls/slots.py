"""The slot of a running call, which it gives up while it only waits."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

WAITED: ContextVar[float] = ContextVar("toolspan_waited", default=0.0)
"""For how many seconds the call of the current task was queued for its slot; ``inf``: until its timeout."""


class CallSlot(Protocol):
    """The slot of the call that the current task works for.

    ``refuses``: whether calls that find a queue full are refused; else the transport stops reading meanwhile.
    """

    @property
    def refuses(self) -> bool: ...

    def leave(self) -> None:
        """Let another call run meanwhile."""
        ...

    def enter(self) -> None:
        """Take the slot back at once, even if one more call than the limit runs then."""
        ...

    async def ready(self) -> None:
        """Return when the caller reads results."""
        ...


class NoSlot:
    """The slot of calls that are not counted."""

    refuses = True

    def leave(self) -> None:
        """Nothing."""

    def enter(self) -> None:
        """Nothing."""

    async def ready(self) -> None:
        """At once."""


class Branches:
    """The concurrent branches of one call: its slot is given up once, however many of them wait."""

    def __init__(self) -> None:
        self._away = 0

    def leave(self, slot: CallSlot) -> None:
        """A branch waits."""
        self._away += 1
        if self._away == 1:
            slot.leave()

    def enter(self, slot: CallSlot) -> None:
        """A branch resumes."""
        self._away -= 1
        if not self._away:
            slot.enter()


_branches: ContextVar[Branches | None] = ContextVar("toolspan_branches", default=None)


@contextmanager
def branching() -> Generator[None]:
    """Count tasks that start in the block as branches of one call."""
    if _branches.get() is not None:
        yield
        return
    token = _branches.set(Branches())
    try:
        yield
    finally:
        _branches.reset(token)


@contextmanager
def away(slot: CallSlot) -> Generator[None]:
    """Give up ``slot`` for the duration of the block."""
    branches = _branches.get()
    if branches is None:
        slot.leave()
    else:
        branches.leave(slot)
    try:
        yield
    finally:
        if branches is None:
            slot.enter()
        else:
            branches.enter(slot)
