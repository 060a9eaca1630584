"""The processes below another one, with what they use."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_LISTS_CHILDREN = Path("/proc/self/task", str(os.getpid()), "children").exists()


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs: the memory that is its own, in bytes, and the processor time of it and of the
    processes that it has waited for, in seconds."""

    pid: int
    memory: int
    cpu: float


class Family:
    """The processes that came of the process ``root``, which itself is not among them.

    On Linux orphans stay below ``root``, which adopts them. Elsewhere they are remembered by their process
    ids and groups: one that leaves both between two looks is lost.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: set[int] = set()
        self._groups: set[int] = set()

    def living(self) -> list[Process]:
        """Those that run now, parents before their children. Zombies are not among them."""
        if sys.platform == "linux":
            found = _below(self._root) if _LISTS_CHILDREN else _below_by_parents(self._root)
            return [process for pid in found if (process := _process(pid)) is not None]
        return self._remembered()

    def _remembered(self) -> list[Process]:
        table = {row[0]: row for row in _listed()}
        self._known &= table.keys()
        grown = True
        while grown:
            new = {
                pid
                for pid, parent, group, _, _ in table.values()
                if (parent in {self._root, *self._known} or group in self._groups) and pid != self._root
            } - self._known
            self._known |= new
            self._groups |= {table[pid][2] for pid in new} - {os.getpgrp()}
            grown = bool(new)
        return [Process(pid, table[pid][3], table[pid][4]) for pid in sorted(self._known)]


def _below(root: int) -> list[int]:
    """By the lists of children that the kernel keeps, where it is built to."""
    found: list[int] = []
    waiting = deque((root,))
    while waiting:
        children = _children(waiting.popleft())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - ten times a second
            children += map(int, Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())
    except OSError:
        pass
    return children


def _below_by_parents(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir(_PROC):  # noqa: PTH208 - ten times a second
        if name.isdecimal() and (words := _stat(int(name))):
            children.setdefault(int(words[1]), []).append(int(name))
    found: list[int] = []
    waiting = deque((root,))
    while waiting:
        below = children.pop(waiting.popleft(), [])
        found += below
        waiting += below
    return found


def _stat(pid: int) -> list[bytes]:
    """The words of ``/proc/PID/stat`` from the state on; none when the process is gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _process(pid: int) -> Process | None:
    words = _stat(pid)
    if not words or words[0] in (b"Z", b"X"):
        return None
    cpu = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
    try:
        resident, shared = map(int, Path(f"/proc/{pid}/statm").read_bytes().split()[1:3])
    except (OSError, ValueError):
        return Process(pid, 0, cpu)
    return Process(pid, (resident - shared) * os.sysconf("SC_PAGE_SIZE"), cpu)


def _listed() -> Iterable[tuple[int, int, int, int, float]]:
    """Each process that runs: its id, parent, group, memory in bytes and processor seconds, by ``ps``."""
    import subprocess

    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,rss=,state=,time="]
    listed = subprocess.run(command, capture_output=True, check=False, env={"LC_ALL": "C"}).stdout
    for line in listed.decode("ascii", "replace").splitlines():
        pid, parent, group, kib, state, time = line.split(None, 5)
        if not state.startswith("Z"):
            yield int(pid), int(parent), int(group), int(kib) * 1024, _seconds(time)


def _seconds(written: str) -> float:
    """``1-02:03:04.5`` or ``02:03`` in seconds."""
    days, _, clock = written.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)
