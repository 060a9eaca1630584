"""Server processes, each on a processor of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
_START_LIMIT_S = 30
_CPU_CLOCK = 2
"""The kind of clock that ``clock_getcpuclockid`` names, beside the inverted id of the process."""


def processors() -> list[int]:
    """The processors that this process may use; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []


_ALL = processors()


@contextmanager
def pinned() -> Generator[bool]:
    """Keep this process on the first processor, and what ``start`` starts on the last, if there are two."""
    if len(_ALL) < 2:
        yield False
        return
    _use(_ALL[:1])
    try:
        yield True
    finally:
        _use(_ALL)


def start(command: Sequence[str], *, pipes: bool) -> subprocess.Popen[bytes]:
    """Start a server, with pipes for its standard input and output or without."""
    stream = subprocess.PIPE if pipes else subprocess.DEVNULL
    mine = processors()
    if mine != _ALL:
        _use(_ALL[-1:])
    try:
        return subprocess.Popen(
            command, cwd=ROOT, stdin=stream, stdout=stream, stderr=subprocess.DEVNULL, bufsize=0
        )
    finally:
        if mine != _ALL:
            _use(mine)


def _use(wanted: Sequence[int]) -> None:
    """What a process starts inherits its processors."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, wanted)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server that ``start`` started."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def free_port() -> int:
    """A TCP port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], start_s: float = _START_LIMIT_S) -> None:
    """Return when something listens on ``port``. Raises ``RuntimeError`` after ``start_s`` seconds."""
    end = time.monotonic() + start_s
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"no server at port {port}: {process.args!r}")


def resident_mb(pid: int) -> float:
    """Resident memory of the process, in MiB. Raises ``OSError`` where there is no ``/proc``."""
    return _status_mb(pid, "VmRSS")


def peak_mb(pid: int) -> float:
    """The most resident memory that the process has had, in MiB. Raises as ``resident_mb``."""
    return _status_mb(pid, "VmHWM")


def processor_s(pid: int) -> float:
    """The processor time of the process so far, of all its threads and of the system for it, in seconds.

    Raises ``OSError`` where the system has no clock for another process: it is Linux that has one.
    """
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


def _status_mb(pid: int, key: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/{pid}/status has no {key}")


def children(pid: int) -> list[int]:
    """The processes that the process started and that still run; empty where there is no ``/proc``."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]
