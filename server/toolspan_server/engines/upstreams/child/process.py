"""A server as a subprocess: its start, its stderr, its end, whatever the protocol on its pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, Process

from ....common.lines import Lines, Overlong
from ....common.modules.bytecode import bytecode_environment
from ....common.processes import open_process
from .._spec import ServerSpec
from ..limits.allowance import Allowance
from ..limits.unowned import Unowned
from .aftercare import ended_afterwards
from .stderr_tail import StderrTail

CHUNK = 65_536
BROKEN = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)
_STDERR_BYTES_PER_SECOND = 8.0 * 1024 * 1024
_LEAVE_SECONDS = 1.2
_TERM_SECONDS = 0.8
_KILL_SECONDS = 1.0
_DRAIN_SECONDS = 0.5


class Child:
    """What is known of a server beside its messages: the tail of its stderr and how it ended, or, over HTTP,
    the status of its last answer if that was an error. ``allowance`` is what it may send unasked, ``unowned``
    what it sent that belongs to no request; ``broken`` is set when nothing can be sent to it any more."""

    def __init__(self) -> None:
        self.allowance = Allowance()
        self.unowned = Unowned()
        self.tail = StderrTail()
        self.returncode: int | None = None
        self.status: int | None = None
        self.broken = anyio.Event()


@asynccontextmanager
async def started(spec: ServerSpec, child: Child) -> AsyncGenerator[Process]:
    """The server, running, its stderr read; when the block ends, so does it, descendants included.

    Raises ``OSError`` when it cannot be started.
    """
    process = await _open(spec)
    heard = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read_stderr, process, child.tail, heard)
        try:
            with ended_afterwards(process.pid):
                yield process
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, at_once=bool(child.allowance.excess))
                with anyio.move_on_after(_DRAIN_SECONDS):
                    await heard.wait()
                child.returncode = process.returncode
                await process.aclose()
            tasks.cancel_scope.cancel()


async def _open(spec: ServerSpec) -> Process:
    base = dict(os.environ) if spec.inherit_env else _harmless_environment()
    if spec.cwd is not None and not Path(spec.cwd).is_dir():  # noqa: ASYNC240 - one stat call
        raise NotADirectoryError(f"the folder {spec.cwd} does not exist")
    return await open_process(
        list(spec.words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**base, **({} if spec.own else bytecode_environment()), **spec.env},
        cwd=spec.cwd,
        start_new_session=True,
    )


def _harmless_environment() -> dict[str, str]:
    from mcp.client.stdio import get_default_environment

    return get_default_environment()


async def _read_stderr(process: Process, tail: StderrTail, heard: anyio.Event) -> None:
    assert process.stderr is not None
    lines = Lines(CHUNK)
    try:
        with suppress(*BROKEN):
            async for chunk in chunks(process.stderr):
                for line in lines.feed(tail.worth_keeping(chunk)):
                    tail.add(_start(line))
                await anyio.sleep(len(chunk) / _STDERR_BYTES_PER_SECOND)
    finally:
        tail.add(_start(lines.end()))
        heard.set()


def _start(line: bytes | Overlong) -> bytes:
    return line.head if isinstance(line, Overlong) else line


async def chunks(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    while True:
        try:
            chunk = await stream.receive(CHUNK)
        except anyio.EndOfStream:
            return
        yield chunk
        if len(chunk) == CHUNK:  # more may be there already, and then nothing was waited for
            await anyio.lowlevel.checkpoint()


async def _end(process: Process, *, at_once: bool) -> None:
    """End the server as MCP's lifecycle says (close stdin, SIGTERM, SIGKILL), and its whole group."""
    assert process.stdin is not None
    if at_once:
        _signal(process, kill=True)
    with suppress(*BROKEN):
        await process.stdin.aclose()
    if not await _left(process, _LEAVE_SECONDS):
        _signal(process, kill=False)
        await _left(process, _TERM_SECONDS)
    _signal(process, kill=True)
    await _left(process, _KILL_SECONDS)


async def _left(process: Process, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        await process.wait()
    return process.returncode is not None


def _signal(process: Process, *, kill: bool) -> None:
    """Signal the server and, where there are process groups, all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)
        elif process.returncode is None:
            process.kill() if kill else process.terminate()
