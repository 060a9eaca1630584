"""``progress.py pip install …``: shows in a line what pip is doing, and all that it says when it fails.

On a terminal the line is rewritten; elsewhere each tenth step is a line of its own. The exit code is pip's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable

_STEPS = ("Collecting ", "Downloading ", "Using cached ", "Building ", "Installing ", "Preparing ")
_EVERY = 10


def main(arguments: list[str]) -> int:
    """Run ``python -m ARGUMENTS`` and give its exit code."""
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        lines = list(_shown(process.stdout))
    if process.returncode:
        sys.stderr.writelines(lines)
    return process.returncode


def _shown(lines: Iterable[str]) -> Iterable[str]:
    """``lines``, while the steps among them are shown."""
    live, count = sys.stderr.isatty(), 0
    for line in lines:
        yield line
        step = line.strip()
        if not step.startswith(_STEPS):
            continue
        count += 1
        if live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{f'  {count}: {step}'[:width]}")
        elif count % _EVERY == 1:
            sys.stderr.write(f"  {count}: {step}\n")
        sys.stderr.flush()
    if live:
        sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
