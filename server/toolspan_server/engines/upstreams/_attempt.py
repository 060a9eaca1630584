"""What is under way with a server, as the parts below it see it: a connection being made, or a call.

The SDK sends each message in the context of the task that asked for it, so that authorization, far below a
call, finds the attempt that it serves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar

import anyio


class Attempt:
    """What is under way, within ``outer``. Nothing counts in a block of ``pause``; ``refusal`` says why the
    server let nobody in, if it did not, ``status`` is that of its last answer over HTTP."""

    def __init__(self, pause: Callable[[], AbstractContextManager[None]], outer: Attempt | None) -> None:
        self.pause = pause
        self.outer = outer
        self.refusal = ""
        self.status: int | None = None


_CURRENT: ContextVar[Attempt | None] = ContextVar("toolspan_upstream_attempt", default=None)


@contextmanager
def paused_by(pause: Callable[[], AbstractContextManager[None]]) -> Generator[Attempt]:
    """What is done in the block is one attempt, whose clock stands still in a block of ``pause``."""
    made = Attempt(pause, _CURRENT.get())
    before = _CURRENT.set(made)
    try:
        yield made
    finally:
        _CURRENT.reset(before)


def attempt(scope: anyio.CancelScope) -> AbstractContextManager[Attempt]:
    """The same for what ends with the deadline of ``scope``."""
    return paused_by(_Clock(scope).paused)


@contextmanager
def attempt_within(seconds: float | None) -> Generator[Attempt]:
    """An attempt of ``seconds``, not counting the time that a person takes. Raises ``TimeoutError``."""
    deadline = math.inf if seconds is None else anyio.current_time() + seconds
    with anyio.CancelScope(deadline=deadline) as scope, attempt(scope) as made:
        yield made
    if scope.cancelled_caught:
        raise TimeoutError


@contextmanager
def waiting_for_a_person() -> Generator[None]:
    """Stop the clocks of whatever is under way with a server: a person is asked meanwhile."""
    with ExitStack() as pauses:
        current = _CURRENT.get()
        while current is not None:
            pauses.enter_context(current.pause())
            current = current.outer
        yield


def refuse(reason: str) -> None:
    """Say why a server lets nobody in, in words for the person who wants its tools."""
    current = _CURRENT.get()
    while current is not None:
        current.refusal = reason
        current = current.outer


def note_status(status: int) -> None:
    """Note the status of an answer over HTTP to what is under way here, whatever else is under way."""
    if (current := _CURRENT.get()) is not None:
        current.status = status


class _Clock:
    """The deadline of ``scope``; one that is set during a pause stays."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        self._scope = scope
        self._pauses = 0
        self._left = math.inf

    @contextmanager
    def paused(self) -> Generator[None]:
        """The clock stands still."""
        if not self._pauses:
            self._left, self._scope.deadline = self._scope.deadline - anyio.current_time(), math.inf
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses and self._scope.deadline == math.inf:
                self._scope.deadline = anyio.current_time() + self._left
