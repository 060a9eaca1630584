"""Bounded waits for what happens in another process.

``BOUND_S`` ends a test that hangs, and is nothing that a test asserts: it is far more than any machine needs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio

BOUND_S = 120.0


def eventually(condition: Callable[[], bool], seconds: float = BOUND_S) -> bool:
    """Whether ``condition`` holds within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def until(condition: Callable[[], object]) -> None:
    """Return once ``condition`` holds."""
    with anyio.fail_after(BOUND_S):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in another process or thread
            await anyio.sleep(0.005)


def gone(pid: int) -> bool:
    """Whether no process ``pid`` runs any more; one that only waits to be reaped does not run."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"
