"""Processor time as a multiple of reference work: a bound that neither a slow nor a busy machine moves.

with at_most(units=100):
    …

A unit is about 10 ms on the machine that the bounds were chosen on. Time in which the process waits does not
count: that something does not wait is asserted by the order of events, not by a clock.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache


def reference() -> float:
    """The seconds of processor time that the reference work takes now: the least of three runs."""
    return min(_timed() for _ in range(3))


@contextmanager
def at_most(units: float) -> Generator[None]:
    """Fail if what is done inside takes more processor time than ``units`` runs of the reference work."""
    started = time.process_time()
    yield
    spent = time.process_time() - started
    if spent < units * _known_reference():
        return
    unit = reference()
    assert spent < units * unit, f"took {spent / unit:.1f} units of work, more than {units}"


@cache
def _known_reference() -> float:
    return reference()


def _timed() -> float:
    started = time.process_time()
    kept: dict[int, str] = {}
    for number in range(60_000):
        kept[number % 1_000] = str(number)
    return time.process_time() - started
