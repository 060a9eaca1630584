"""The end of a worker with every process that it has made."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MARK = "TOOLSPAN_WORKER"
"""The environment variable by which a worker's processes are known wherever they went."""

_MOST_LOOKS = 20


def end_all(pid: int, mark: str, *, running: bool) -> None:
    """End the worker ``pid``, unless it is not ``running`` any more, and what it has started. Blocks shortly.

    On Linux that is all that is below it, in its group or session, or has its ``mark``: each is stopped when
    it is found, until no more are, so that none gets away meanwhile. Elsewhere it is its process group.
    """
    if sys.platform == "win32":
        if running:
            with suppress(OSError):
                os.kill(pid, signal.SIGTERM)
        return
    if sys.platform != "linux":
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        return
    found: set[int] = set()
    if running:
        _signal(pid, signal.SIGSTOP)
    for _ in range(_MOST_LOOKS):
        new = _belonging(pid, mark) - found - {pid}
        for each in new:
            _signal(each, signal.SIGSTOP)
        found |= new
        if not new:
            break
    for each in found:
        _signal(each, signal.SIGKILL)
    if running:
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.kill(pid, number)


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    group: int
    session: int


def _belonging(worker: int, mark: str) -> set[int]:
    """The processes that came of ``worker``."""
    processes = list(_processes())
    sought = f"{MARK}={mark}".encode()
    found = {
        each.pid for each in processes if worker in (each.group, each.session) or _is_marked(each.pid, sought)
    }
    found.add(worker)
    while below := {each.pid for each in processes if each.parent in found} - found:
        found |= below
    return found - {os.getpid()}


def _processes() -> Iterator[_Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            words = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if words[0] not in (b"Z", b"X"):
            yield _Process(int(folder.name), int(words[1]), int(words[2]), int(words[3]))


def _is_marked(pid: int, sought: bytes) -> bool:
    try:
        return sought in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
