"""A folder that another process exchanges for a link that leads out, and back, again and again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

SWAPS = int(os.environ.get("TOOLSPAN_SWAPS", "10000"))
"""How often a test that lasts until all are made has folders exchanged; ``TOOLSPAN_SWAPS=100000`` by hand."""

_PROGRAM = """
import os, shutil, sys
def retried(step, *names):
    while True:
        try:
            return step(*names)
        except OSError:
            shutil.rmtree("inner", ignore_errors=True)
for _ in range(int(sys.argv[1])):
    os.rename("inner", "aside"); retried(os.symlink, "../outside", "inner")
    os.unlink("inner"); retried(os.rename, "aside", "inner")
"""


@contextmanager
def swapping(folder: Path, swaps: int) -> Generator[subprocess.Popen[bytes]]:
    """The process that exchanges ``inner`` in ``folder`` for a link to ``../outside``, ``swaps`` times; what
    somebody puts in its place meanwhile is removed."""
    with subprocess.Popen([sys.executable, "-c", _PROGRAM, str(swaps)], cwd=folder) as swapper:
        try:
            yield swapper
        except BaseException:
            swapper.kill()
            raise
