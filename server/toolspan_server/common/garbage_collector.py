"""The garbage collector, out of the way where much is made and nothing thrown away."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused() -> Generator[None]:
    """No collection of cycles inside.

    While a large config is read, all that has been made is kept: a collector that looks through it again and
    again takes a third of the load of 10,000 tools. It is nothing for a small config, or for imports.
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
