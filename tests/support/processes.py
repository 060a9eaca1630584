"""What a process holds and has used: memory, descriptors and processor time, as /proc tells."""

from __future__ import annotations

import os
import resource
from pathlib import Path


def resident(pid: int) -> int:
    """Bytes of memory in use."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def processor_seconds(pid: int) -> float:
    """The processor time of all its threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid: int) -> int:
    """How many files and sockets are open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
