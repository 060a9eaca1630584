"""The server's side of one worker process."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import Process

from ...calls.context import Context
from ...common.modules.bytecode import source_roots
from ...common.processes import open_process
from ...errors import ToolspanError
from ._callbacks import answered
from ._framing import (
    Frames,
    MalformedFrame,
    Message,
    framed,
)
from ._limits import ProcessLimits
from ._process_tree import MARK, end_all

_PROGRAM = "toolspan_server.engines.isolation._worker_program"
_GRACE_S = 0.25
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
_ending: dict[int, anyio.CapacityLimiter] = {}


class WorkerEnded(ToolspanError):
    """The worker ended with a call. The message says how."""


class Worker:
    """A process that makes calls, one at a time. ``fresh`` until a later one is to take its place."""

    def __init__(self, process: Process, mark: str, lifeline: int) -> None:
        self.fresh = True
        self.pid = process.pid
        self._process = process
        self._mark = mark
        self._lifeline = lifeline
        self._inbox: asyncio.Queue[Message | None] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def started(cls, limits: ProcessLimits) -> Worker:
        """A new worker. Raises ``OSError``."""
        mark = secrets.token_hex(8)
        command = [sys.executable, "-P", "-m", _PROGRAM]
        environment = {name: value for name, value in os.environ.items() if name not in limits.withheld}
        environment[MARK] = mark
        more: dict[str, Any] = {}
        if sys.platform == "linux":
            held, alive = os.pipe()
            command.append(str(held))
            more["pass_fds"] = (held,)
        else:
            held, alive = -1, -1
        try:
            process = await open_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None,
                env=environment,
                start_new_session=sys.platform != "win32",
                **more,
            )
        except BaseException:
            _close(alive)
            raise
        finally:
            _close(held)
        worker = cls(process, mark, alive)
        try:
            await worker._send(_opening(limits))
        except BaseException:
            await worker.end()
            raise
        return worker

    async def call(self, message: Message, context: Context) -> Message:
        """What came of the call: ``isolation._outcome`` reads it. Raises ``WorkerEnded``."""
        await self._send({"handler": message})
        async with anyio.create_task_group() as group:
            while (received := await self._inbox.get()) is not None:
                if "done" in received:
                    context.client.memory.clear()
                    context.client.memory.update(received["memory"])
                    group.cancel_scope.cancel()
                    return dict(received["done"])
                group.start_soon(self._answer, received, context)
            group.cancel_scope.cancel()
        await self._gone.wait()
        raise WorkerEnded(self._how())

    async def given_up(self) -> bool:
        """Nobody waits for its call any more: whether it ended that in time and can make others."""
        with suppress(WorkerEnded), anyio.move_on_after(_GRACE_S):
            await self._send({"cancel": True})
            while (received := await self._inbox.get()) is not None:
                if "done" in received:
                    return True
        await self.end()
        return False

    async def end(self) -> None:
        """End it, and every process that it has made."""
        limiter = _ending.setdefault(0, anyio.CapacityLimiter(4))
        running = self._process.returncode is None
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(
                partial(end_all, self.pid, self._mark, running=running), limiter=limiter
            )
            await self._gone.wait()

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended."""
        return self._gone.is_set() or self._reading.done()

    async def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send(framed(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._gone.wait()
            raise WorkerEnded(self._how()) from None

    async def _answer(self, received: Message, context: Context) -> None:
        reply = await answered(received, context)
        if reply is not None:
            with suppress(WorkerEnded):
                await self._send(reply)

    async def _read(self) -> None:
        """Read its messages until it ends."""
        assert self._process.stdout is not None
        frames = Frames()
        try:
            while True:
                frames.feed(await self._process.stdout.receive())
                while (message := frames.next()) is not None:
                    self._inbox.put_nowait(message)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, MalformedFrame):
            pass
        finally:
            with anyio.CancelScope(shield=True):
                await self._waited()
                await self._process.aclose()
            _close(self._lifeline)
            self._gone.set()
            self._inbox.put_nowait(None)

    async def _waited(self) -> None:
        """Wait for its end; one that only closed its output is killed."""
        with anyio.move_on_after(_GRACE_S):
            await self._process.wait()
            return
        with suppress(OSError):
            os.kill(self.pid, _KILL)  # ``Process.kill`` might take its status from whoever waits for it
        await self._process.wait()

    def _how(self) -> str:
        code = self._process.returncode
        if code is None or code >= 0:
            return f"with status {code}"
        try:
            return f"by signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"


def _opening(limits: ProcessLimits) -> Message:
    """The first message to a worker."""
    return {
        "path": sys.path,
        "from_source": source_roots(),
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.cpu_seconds,
        "result_bytes": limits.result_bytes,
    }


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)
