"""What a command may use, held by the kernel from its start, and what a look at its processes finds."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ._processes import Process

_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36
_SET_NO_NEW_PRIVS = 38
_OPEN_FILES = 1_024
_THREADS_PER_PROCESS = 8


def adopt_orphans() -> None:
    """Have processes below this one stay below it when their parents end. Only Linux can."""
    _control(_SET_CHILD_SUBREAPER, 1)


def end_with_parent(number: int) -> None:
    """Have the kernel send this process the signal ``number`` when its parent ends. Only Linux can."""
    _control(_SET_PDEATHSIG, number)


def refuse_privileges() -> None:
    """From now on no program that is started gains rights by its file (``sudo``). Only Linux can."""
    _control(_SET_NO_NEW_PRIVS, 1)


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def bound(limits: Mapping[str, Any], *, counts_processes: bool) -> None:
    """Hold this process, and each that it starts, to ``limits``: see ``program``.

    ``counts_processes`` says that the kernel is to limit their number too: it counts the threads of the
    user's other processes as well, so that those of now are added.
    """
    if sys.platform == "win32":
        raise AssertionError("there is no such program on Windows")
    import resource

    cpu = int(limits["cpu_seconds"])
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: cpu + 1,
        resource.RLIMIT_DATA: int(limits["memory_bytes"]),
        resource.RLIMIT_FSIZE: int(limits["file_bytes"]),
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    if counts_processes:
        wanted[resource.RLIMIT_NPROC] = threads(limits) + _threads_of_user()
    for which, most in wanted.items():
        hard = resource.getrlimit(which)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (allowed, allowed))


def threads(limits: Mapping[str, Any]) -> int:
    """How many threads the kernel lets a command have, where it counts them."""
    return int(limits["processes"]) * _THREADS_PER_PROCESS


def _threads_of_user() -> int:
    if sys.platform != "linux":
        return 1_000
    total = 0
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only
        try:
            if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116 - names only
                total += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208 - names only
        except OSError:
            continue
    return total


def exceeded(limits: Mapping[str, Any], family: Sequence[Process]) -> str | None:
    """The limit that the processes together are over; ``None`` when there is none."""
    import resource

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = ended.ru_utime + ended.ru_stime + sum(process.cpu for process in family)
    used = {
        "processes": len(family),
        "memory_bytes": sum(process.memory for process in family),
        "cpu_seconds": cpu,
    }
    return next((name for name, amount in used.items() if amount > limits[name]), None)
