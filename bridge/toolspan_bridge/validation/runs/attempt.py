"""Which trial is running: known to all that works for it, such as the recorder of its replies.

with attempt_at(Place("ollama/qwen3:8b", "tickets", "opens a ticket", 2)):
    answer = await ask(model, scenario)      # what it calls finds the attempt by ``current_attempt``
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Attempt", "Place", "attempt_at", "current_attempt"]


@dataclass(frozen=True, slots=True)
class Place:
    """A trial's place in a run: the ``number``-th, from 1, of the scenario (by its title) of a suite (by its
    name) with ``model`` (``provider/model``). It is the same whenever the run is repeated."""

    model: str
    suite: str
    scenario: str
    number: int


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Attempt:
    """One attempt at the trial of ``place``: another one is made when a run that was ended is resumed. Only
    the same attempt is equal to it."""

    place: Place


_current: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


@contextmanager
def attempt_at(place: Place) -> Generator[Attempt]:
    """A new attempt at the trial of ``place``, which the block makes with all tasks that it starts."""
    attempt = Attempt(place)
    token = _current.set(attempt)
    try:
        yield attempt
    finally:
        _current.reset(token)


def current_attempt() -> Attempt | None:
    """The attempt that is being made here; ``None`` outside of any."""
    return _current.get()
