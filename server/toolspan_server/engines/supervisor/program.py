"""Run a command as the first line of standard input says, until it ends or that input does.

The line is JSON: ``{"command": […], "environment": {…}, "directory": "…", "seconds": 120, "limits":
{"cpu_seconds", "memory_bytes", "file_bytes", "processes"}, "wrapped": false, "held": null}``. With
``wrapped`` the command begins with a program that keeps the processes apart (bubblewrap), ends them all with
itself, and counts them. ``held`` is a descriptor that stays open until all of them have ended.

What the command writes goes to standard output as it is. At the end one line of JSON on standard error says
how it ended: ``{"status": 0}`` or ``{"signal": 9}``, ``"limit"`` with what it was ended for: ``seconds``,
``cpu_seconds``, ``memory_bytes``, ``processes`` or ``null``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from ._processes import Family
from ._settings import adopt_orphans, bound, end_with_parent, exceeded, refuse_privileges

_LOOK_S = 0.1 if sys.platform == "linux" else 0.5
_GRACE_S = 0.4
_END_S = 10.0
_PAUSE_S = 0.01


def main() -> None:
    """Read what to run, run it, and report."""
    if sys.platform == "win32":
        raise AssertionError("commands are run on Linux and macOS")
    order = json.loads(sys.stdin.buffer.readline(1 << 24) or b"null")
    if order is None:
        return
    if order["held"] is not None:
        os.set_inheritable(order["held"], False)  # it is not the command's
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    woken, wakes = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _noted)
    adopt_orphans()
    ending = _Supervised(order, woken).run()
    with suppress(OSError):  # the server may be gone
        os.write(2, json.dumps(ending).encode() + b"\n")


def _noted(number: int, frame: object) -> None:
    """A child has ended: without a handler of Python's, the pipe of wake-ups would hear nothing."""


class _Supervised:
    """The command, running. ``woken`` can be read when a child has ended."""

    def __init__(self, order: dict[str, Any], woken: int) -> None:
        self._limits: dict[str, Any] = order["limits"]
        self._wrapped: bool = order["wrapped"]
        self._ends = time.monotonic() + order["seconds"]
        self._woken = woken
        self._status: int | None = None
        self._pid = _started(order)
        self._family = Family(os.getpid())
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the output ends with the command's processes

    def run(self) -> dict[str, Any]:
        limit = self._watched()
        self._end(gently=limit in ("", "seconds"))
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        return {("status" if code >= 0 else "signal"): abs(code), "limit": limit if limit != "" else None}

    def _watched(self) -> str | None:
        """Wait for the command's end: ``None``. Or the limit to end it for; empty when that is asked."""
        looked = time.monotonic()
        while not self._reaped():
            now = time.monotonic()
            if now >= self._ends:
                return "seconds"
            if now - looked >= _LOOK_S:
                if (limit := exceeded(self._limits, self._family.living())) is not None:
                    return limit
                looked = now
            ready = select.select((0, self._woken), (), (), min(self._ends - now, _LOOK_S))[0]
            if 0 in ready:
                return ""
            if ready:
                os.read(self._woken, 4096)
        return None

    def _reaped(self) -> bool:
        """Wait for all children that have ended; whether the command is among them, now or before."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self._pid:
                self._status = status
        return self._status is not None

    def _end(self, *, gently: bool) -> None:
        """End every process that is left: ``gently`` gives them a moment to do it themselves."""
        if gently and self._status is None:
            for process in self._family.living():
                if not (self._wrapped and process.pid == self._pid):  # it would take the others with it
                    _send(process.pid, signal.SIGTERM)
            self._gone(_GRACE_S)
        deadline = time.monotonic() + _END_S
        while not self._gone(0) and time.monotonic() < deadline:
            self._kill()
        while not self._reaped():
            time.sleep(_PAUSE_S)

    def _kill(self) -> None:
        """Kill what is left: first what one call ends as a whole, however fast it grows, then each by itself.

        The end of bubblewrap ends all processes in its table, and a signal to a group reaches those that are
        being made too. What left the group is stopped when it is found, so that it makes no more meanwhile.
        """
        if self._status is None:
            _send(self._pid, signal.SIGKILL)
        _send(-self._pid, signal.SIGKILL)
        stopped: set[int] = set()
        while new := {each.pid for each in self._family.living()} - stopped:
            for pid in new:
                _send(pid, signal.SIGSTOP)
            stopped |= new
        for pid in stopped:
            _send(pid, signal.SIGKILL)
        self._gone(_LOOK_S)

    def _gone(self, within: float) -> bool:
        """Whether nothing is left, at the latest after ``within`` seconds."""
        deadline = time.monotonic() + within
        while True:
            ended = self._reaped()
            if ended and not self._family.living():
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)


def _send(pid: int, number: signal.Signals) -> None:
    """Signal the process ``pid``, or the group ``-pid``, unless it is gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _started(order: dict[str, Any]) -> int:
    """Start the command in a session of its own, with an empty standard input; its process id.

    When that fails, the reason is its output and its status 127, as in a shell.
    """
    pid = os.fork()
    if pid == 0:
        try:
            _become(order)
        except (OSError, ValueError) as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(127)
    return pid


def _become(order: dict[str, Any]) -> None:
    os.dup2(1, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    end_with_parent(signal.SIGKILL)
    if not order["wrapped"]:
        refuse_privileges()
    os.chdir(order["directory"])
    bound(order["limits"], counts_processes=not order["wrapped"])
    os.execvpe(order["command"][0], order["command"], order["environment"])
