"""The garbage collector, out of the way where much is made and nothing thrown away."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused() -> Generator[None]:
    """No collection of cycles inside.

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
