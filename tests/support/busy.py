"""Runs a command while busy loops take the processors: ``python -m tests.support.busy COMMAND …``.

The loops end with this process, however it ends: each looks whether its parent is still there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

LOOPS = 2
_LOOP = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def busy_loops(count: int = LOOPS) -> Generator[list[int]]:
    """Keep ``count`` processors busy while the block runs; gives the processes' ids."""
    command = [sys.executable, "-c", _LOOP, str(os.getpid())]
    loops = [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield [loop.pid for loop in loops]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main(command: Sequence[str]) -> int:
    """Run ``command`` beside busy loops; its exit code, or 130 after Ctrl+C."""
    started = time.monotonic()
    with busy_loops() as pids:
        print(f"busy loops: {' '.join(map(str, pids))}", flush=True)
        process = subprocess.Popen(command)
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()
            code = 130
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{time.monotonic() - started:.0f} s beside {LOOPS} busy loops; load average {load}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
