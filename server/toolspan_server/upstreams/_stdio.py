"""The stdio transport: a server as a subprocess, with bounded lines and a bounded end.

The SDK's own client reads lines of any length, stops hearing after a byte that is no UTF-8, and leaves the
server's stderr to the terminal; this one has its streams' shape and none of these.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from ._lines import Lines, Tail
from ._spec import ServerSpec

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
_CHUNK = 65_536
_LEAVE_SECONDS = 1.2
_TERM_SECONDS = 0.8
_KILL_SECONDS = 1.0
_DRAIN_SECONDS = 0.5

_BROKEN = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)
_ID_AT_HEAD = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')

Incoming = SessionMessage | Exception
StdioStreams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


class Child:
    """What is known of a server beside its messages: the tail of its stderr and how it ended, or, over HTTP,
    the status of its last answer if that was an error."""

    def __init__(self) -> None:
        self.tail = Tail()
        self.returncode: int | None = None
        self.status: int | None = None


class Unreadable(ValueError):
    """A line of the server's stdout is no message of the protocol."""


@asynccontextmanager
async def stdio_streams(spec: ServerSpec, child: Child) -> AsyncGenerator[StdioStreams]:
    """Start the server and give its message streams; when the block ends, so does it, descendants included.

    Raises ``OSError`` when it cannot be started.
    """
    process = await _started(spec)
    to_client, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    heard = anyio.Event()
    async with to_client, incoming, outgoing, from_client, anyio.create_task_group() as tasks:
        tasks.start_soon(_read_messages, process, to_client, child.tail)
        tasks.start_soon(_write_messages, process, from_client, to_client)
        tasks.start_soon(_read_stderr, process, child.tail, heard)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                await _end(process)
                with anyio.move_on_after(_DRAIN_SECONDS):
                    await heard.wait()
                child.returncode = process.returncode
                await process.aclose()
            tasks.cancel_scope.cancel()


async def _started(spec: ServerSpec) -> Process:
    base = dict(os.environ) if spec.inherit_env else get_default_environment()
    if spec.cwd is not None and not Path(spec.cwd).is_dir():  # noqa: ASYNC240 - one stat call
        raise NotADirectoryError(f"the folder {spec.cwd} does not exist")
    return await anyio.open_process(
        list(spec.command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**base, **spec.env},
        cwd=spec.cwd,
        start_new_session=True,
    )


async def _read_messages(process: Process, to_client: MemoryObjectSendStream[Incoming], tail: Tail) -> None:
    assert process.stdout is not None
    lines = Lines(MAX_MESSAGE_BYTES)
    with suppress(*_BROKEN):
        async with to_client:
            async for chunk in _chunks(process.stdout):
                for line, too_long in lines.feed(chunk):
                    if line.strip():
                        await to_client.send(_message(line, too_long, tail))
            if lines.rest().strip():
                await to_client.send(_message(lines.rest(), False, tail))


async def _write_messages(
    process: Process,
    from_client: MemoryObjectReceiveStream[SessionMessage],
    to_client: MemoryObjectSendStream[Incoming],
) -> None:
    assert process.stdin is not None
    try:
        async for item in from_client:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(text.encode() + b"\n")
    except _BROKEN:
        to_client.close()


async def _read_stderr(process: Process, tail: Tail, heard: anyio.Event) -> None:
    assert process.stderr is not None
    lines = Lines(_CHUNK)
    try:
        with suppress(*_BROKEN):
            async for chunk in _chunks(process.stderr):
                for line, _ in lines.feed(chunk):
                    tail.add(line)
    finally:
        tail.add(lines.rest())
        heard.set()


async def _chunks(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    while True:
        try:
            yield await stream.receive(_CHUNK)
        except anyio.EndOfStream:
            return


def _message(line: bytes, too_long: bool, tail: Tail) -> Incoming:
    """The message in ``line``. An unreadable one that names its request is that request's error."""
    if too_long:
        fault = f"an answer of more than {MAX_MESSAGE_BYTES} bytes"
    else:
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            fault = "an answer that is no valid JSON-RPC message"
            tail.add(line, "stdout: ")
    if found := _ID_AT_HEAD.match(line):
        error = ErrorData(code=PARSE_ERROR, message=f"the server sent {fault}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(found.group(1)), error=error))
    return Unreadable(fault)


async def _end(process: Process) -> None:
    """End the server as MCP's lifecycle says (close stdin, SIGTERM, SIGKILL), and its whole group."""
    assert process.stdin is not None
    with suppress(*_BROKEN):
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
