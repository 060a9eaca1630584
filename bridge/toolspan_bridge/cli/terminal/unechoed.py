"""Keys that are pressed while something is shown."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["unechoed"]


@asynccontextmanager
async def unechoed() -> AsyncGenerator[None]:
    """Have the terminal show no keys in the block, ``^C`` neither: they would stand in the midst of what is
    shown. They are kept for who reads next; line editors within the block show what is typed."""
    if sys.platform == "win32" or not _is_ours():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    silent = list(before)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _is_ours() -> bool:
    """Whether stdin is a terminal that belongs to this program: a job in the background may not change it."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
