"""One command that runs, seen from the server: its output, its end."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import Process

from ...common.processes import open_process
from ..isolation._process_tree import MARK, end_all
from ._limits import CommandLimits
from ._output import Output

_CHUNK = 65_536
_REPORT_BYTES = 65_536
_SUPERVISOR_S = 15.0
"""How long the supervisor may take to end everything; then it is ended, and all that bears its mark."""

_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from toolspan_server.engines.supervisor.program import main; main()"
)
_ROOT = str(Path(__file__).parents[3])


After = Callable[[], list[str]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended: its exit ``status``, or the ``signal`` that ended it.

    ``limit`` is the limit that it was ended for: a key of ``CommandLimits``, or ``seconds``. ``lost`` when
    its supervisor was ended from outside, and nothing else is known.
    """

    status: int | None = None
    signal: int | None = None
    limit: str | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """What to run: the words of the command, all of its environment, its folder, and how long it may take.

    ``wrapped`` says that the command begins with a program which ends all processes with itself.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    directory: Path
    seconds: float
    wrapped: bool = False

    def line(self, limits: CommandLimits, mark: str, held: int | None) -> bytes:
        """The order as the supervisor reads it, with the descriptor that it keeps for itself."""
        used = ("cpu_seconds", "memory_bytes", "file_bytes", "processes")
        order: dict[str, Any] = {
            "command": list(self.command),
            "environment": {**self.environment, MARK: mark},
            "directory": str(self.directory),
            "seconds": self.seconds,
            "limits": {name: getattr(limits, name) for name in used},
            "wrapped": self.wrapped,
            "held": held,
        }
        return json.dumps(order).encode() + b"\n"


class Command:
    """A command under its supervisor. ``output`` is what it has written, ``ending`` how it ended, if so.

    ``after`` is called, in a thread, once all of its processes have ended; ``put_aside`` is what it gives.
    """

    def __init__(
        self, process: Process, limits: CommandLimits, mark: str, after: After | None = None
    ) -> None:
        self.output = Output(limits.output_bytes)
        self.ending: Ending | None = None
        self.put_aside: list[str] = []
        self._after = after
        self._process = process
        self._limits = limits
        self._mark = mark
        self._over = False
        self._report = bytearray()
        loop = asyncio.get_running_loop()
        self._tasks = (loop.create_task(self._read()), loop.create_task(self._hear()))

    @classmethod
    async def started(
        cls, order: Order, limits: CommandLimits, after: After | None = None, held: int | None = None
    ) -> Command:
        """The command, running. Its supervisor has the descriptor ``held`` open until all has ended.

        Raises ``OSError`` when the supervisor cannot be started.
        """
        mark = secrets.token_hex(8)
        process = await open_process(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=() if held is None else (held,),
        )
        command = cls(process, limits, mark, after)
        try:
            assert process.stdin is not None
            await process.stdin.send(order.line(limits, mark, held))
        except _BROKEN:
            pass  # it ended at once, which is its ending
        except BaseException:
            await command.end()
            raise
        return command

    async def finished(self) -> Ending:
        """Its ending, once everything that came of it has ended."""
        await asyncio.wait(self._tasks)
        for task in self._tasks:
            task.result()
        assert self.ending is not None
        return self.ending

    async def end(self) -> None:
        """End it now, and everything that came of it. When this returns, that is so."""
        with anyio.CancelScope(shield=True):
            await self._close_input()
            with anyio.move_on_after(_SUPERVISOR_S):
                await self.finished()
                return
            await anyio.to_thread.run_sync(partial(end_all, self._process.pid, self._mark, running=True))
            await self.finished()

    async def _close_input(self) -> None:
        assert self._process.stdin is not None
        with suppress(*_BROKEN):
            await self._process.stdin.aclose()

    async def _read(self) -> None:
        """Read its output; one that writes too much is ended."""
        assert self._process.stdout is not None
        with suppress(*_BROKEN):
            while True:
                chunk = await self._process.stdout.receive(_CHUNK)
                if not self._over:
                    self.output.add(chunk)
                if self.output.total > self._limits.total_output_bytes and not self._over:
                    self._over = True
                    await self._close_input()

    async def _hear(self) -> None:
        """Read the supervisor's report, and wait for its end."""
        assert self._process.stderr is not None
        with suppress(*_BROKEN):
            while True:
                self._report += await self._process.stderr.receive(_CHUNK)
                if len(self._report) > _REPORT_BYTES:
                    break
        await self._process.wait()
        ending = self._ending()
        if ending.lost:
            await anyio.to_thread.run_sync(partial(end_all, self._process.pid, self._mark, running=False))
        if self._after is not None:
            self.put_aside = await anyio.to_thread.run_sync(self._after)
        self.ending = ending
        with anyio.move_on_after(_SUPERVISOR_S):
            await asyncio.wait(self._tasks[:1])
        await self._process.aclose()

    def _ending(self) -> Ending:
        try:
            report = json.loads(self._report)
            ending = Ending(report.get("status"), report.get("signal"), report.get("limit"))
        except ValueError:
            return Ending(lost=True)
        return Ending(ending.status, ending.signal, "total_output_bytes") if self._over else ending
