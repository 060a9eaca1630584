"""The garbage collector, out of the way where much is made and nothing thrown away."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused() -> Generator[None]:
    """No collection of cycles inside.

    While modules or a large config are read, all that has been made is kept: a collector that looks through
    it again and again takes an eighth of a server's start, and half of the load of 10,000 tools.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def keeping() -> Generator[None]:
    """As ``paused``; what there is at the end is never looked through again."""
    with paused():
        yield
        gc.freeze()
