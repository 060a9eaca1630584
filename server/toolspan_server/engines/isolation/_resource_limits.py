"""What the system holds a worker to, where it can: its memory, its processor time, its end."""

from __future__ import annotations

import os
import signal
import sys

_SET_CHILD_SUBREAPER = 36


def bound(memory_bytes: int) -> None:
    """Hold this process, and each that it starts, to so much memory; have its orphans stay below it."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, _at_most(resource.RLIMIT_DATA, memory_bytes))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spend(cpu_seconds: int) -> None:
    """From now on this process may use so many seconds of processor time; then SIGXCPU ends it."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    total = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, _at_most(resource.RLIMIT_CPU, total, hard=False))


def on_lifeline(descriptor: int) -> None:
    """Have the kernel kill this process group when the other end of the pipe ``descriptor`` is closed.

    It does so whatever the interpreter is busy with. Where the kernel cannot, the end of the input shows it.
    """
    if sys.platform != "linux":
        return
    import fcntl

    fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
    os.set_inheritable(descriptor, False)


def end_group() -> None:
    """End this process and its group."""
    if sys.platform == "win32":
        os._exit(1)
    os.killpg(0, signal.SIGKILL)


def _at_most(which: int, wanted: int, *, hard: bool = True) -> tuple[int, int]:
    if sys.platform == "win32":
        raise AssertionError
    import resource

    most = resource.getrlimit(which)[1]
    soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    return soft, soft if hard else most
