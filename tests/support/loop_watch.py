"""A watchdog over the event loop of a server in another process: it writes down every stall.

``watched(report, "toolspan_bridge", "gateway", …)`` is the command line that runs the program under the
watchdog; ``stalls(report)`` is what it found. A stall is processor time that the loop's own thread spent
between one look at its queue and the next: neither a slow nor a busy machine makes one, and what another
thread computes meanwhile is none. ``allowed_seconds`` is 100 ms on the machine that ``cost`` was measured on.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALLOWED_UNITS = 10
"""Units of ``tests.support.cost``, of 10 ms each."""
_NOTED_S = 0.05
_EVERY_S = 0.01
_LEAST_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Stall:
    """How long the loop computed without looking at its queue, and where it was when that was noticed."""

    seconds: float
    where: str

    @property
    def is_import(self) -> bool:
        """Whether a module was imported, which is done once, when it is first needed."""
        return "<frozen importlib" in self.where


def watched(report: Path, module: str, *arguments: str | Path) -> list[str]:
    """The command line of ``module`` under the watchdog, which writes to ``report``."""
    return [sys.executable, "-m", "tests.support.loop_watch", str(report), module, *map(str, arguments)]


def stalls(report: Path) -> list[Stall]:
    """What the watchdog wrote, in its order. It writes a first line when it begins to watch."""
    lines = report.read_text().splitlines()
    assert lines and json.loads(lines[0]) == "watching", "the watchdog did not watch"
    return [Stall(*json.loads(line)) for line in lines[1:]]


def allowed_seconds() -> float:
    """The longest stall that is none."""
    from tests.support.cost import reference

    return ALLOWED_UNITS * reference()


class _Watch:
    """The loop notes its own thread's processor time every 10 ms. What was spent in between is one stall, for
    timers come up each time that the loop looks at its queue. Another thread looks where the loop is, as
    soon as it can: while C code keeps Python's lock it cannot, and sees the loop right behind that code."""

    def __init__(self, loop: asyncio.AbstractEventLoop, note: Callable[[float, str], None]) -> None:
        self._loop, self._note = loop, note
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._last = time.clock_gettime(self._clock)
        self._where = ""

    def tick(self) -> None:
        """Look at the clock, and again later."""
        now = time.clock_gettime(self._clock)
        if now - self._last > _NOTED_S:
            self._note(now - self._last, self._where or "in C code that kept Python's lock")
        self._last, self._where = now, ""
        self._loop.call_later(_EVERY_S, self.tick)

    def look(self) -> None:
        """Note where the loop is once it has computed for long."""
        while not self._loop.is_closed():
            if not self._where and time.clock_gettime(self._clock) - self._last > _NOTED_S:
                frame = sys._current_frames().get(self._thread)
                self._where = "".join(traceback.format_stack(frame, _LEAST_DEPTH)) if frame else ""
            time.sleep(_EVERY_S)


def watch(loop: asyncio.AbstractEventLoop, note: Callable[[float, str], None]) -> None:
    """Look at ``loop``, of this thread, from a thread of its own for as long as the process runs."""
    watch = _Watch(loop, note)
    watch.tick()
    threading.Thread(target=watch.look, name="loop watch", daemon=True).start()


def _main(report: str, module: str, arguments: list[str]) -> None:
    from toolspan_server.cli import event_loop

    begin = event_loop.run
    file = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    own = os.getpid()

    def write(value: Any) -> None:
        os.write(file, (json.dumps(value) + "\n").encode())

    def run(main: Callable[[], Awaitable[None]], *, use_uvloop: bool = False) -> None:
        async def seen() -> None:
            write("watching")
            watch(asyncio.get_running_loop(), lambda seconds, where: write([seconds, where]))
            await main()

        begin(seen if os.getpid() == own else main, use_uvloop=use_uvloop)

    event_loop.run = run
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], sys.argv[3:])
