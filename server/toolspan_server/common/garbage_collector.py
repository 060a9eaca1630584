"""Pauses the garbage collector where many objects are created and none are discarded."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused() -> Generator[None]:
    """No collection of cycles inside the block.

    While a large config is read, all that has been made is kept, and a collector looks through it in vain:
    loading 10,000 tools then takes 1.25 times as much processor time (``benchmarks/shortcuts.py``).
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def skipped_at_exit() -> None:
    """Skip the search for cycles among all objects when the process ends.

    It does so twice, and the memory goes back to the system anyway: 5 % of the processor time of a server
    that lists its tools and leaves. For commands; in a longer-lived process it would keep garbage.
    """
    atexit.register(gc.freeze)


@contextmanager
def frozen() -> Generator[None]:
    """Leave what exists now, modules for the most part, out of all collections inside the block.

    For a process that has imported all that it works with and makes much from now on: each full collection
    would look through all of it again, which takes a tenth of a second (``benchmarks/README.md``, trials of
    validation), with a server's event loop at a stand.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
