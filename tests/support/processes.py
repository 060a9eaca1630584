"""What a process holds: memory and descriptors, as /proc tells."""

from __future__ import annotations

import resource
from pathlib import Path


def resident(pid: int) -> int:
    """Bytes of memory in use."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def descriptors(pid: int) -> int:
    """How many files and sockets are open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
