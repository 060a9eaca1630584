"""The stdio transport: a server as a subprocess, with bounded lines and a bounded end.

The SDK's own client reads lines of any length, stops hearing after a byte that is no UTF-8, and leaves the
server's stderr to the terminal; this one has its streams' shape and none of these.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

from ...common.lines import Lines, Overlong
from ._spec import ServerSpec
from .child.process import (
    BROKEN,
    Child,
    chunks,
    started,
)
from .limits.allowance import WRITE_SECONDS, Allowance
from .limits.answers import excerpt, is_answer, of_shared_stream, refusal
from .limits.bounded_json import MAX_MESSAGE_BYTES
from .limits.messages import message_of

_ID_AT_HEAD = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*[,}]')

_ANSWERS = (JSONRPCResponse, JSONRPCError)

Incoming = SessionMessage | Exception
StdioStreams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


class MalformedLine(ValueError):
    """A line of the server's stdout is no message of the protocol."""


@asynccontextmanager
async def stdio_streams(spec: ServerSpec, child: Child) -> AsyncGenerator[StdioStreams]:
    """Start the server and give its message streams; when the block ends, so does it, descendants included.

    Raises ``OSError`` when it cannot be started.
    """
    to_client, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    async with to_client, incoming, outgoing, from_client, anyio.create_task_group() as tasks:
        async with started(spec, child) as process:
            tasks.start_soon(_read_messages, process, to_client, child)
            tasks.start_soon(_write_messages, process, from_client, to_client, child.allowance)
            try:
                yield incoming, outgoing
            finally:
                incoming.close()
        tasks.cancel_scope.cancel()


async def _read_messages(process: Process, to_client: MemoryObjectSendStream[Incoming], child: Child) -> None:
    assert process.stdout is not None
    lines = Lines(MAX_MESSAGE_BYTES)
    with suppress(*BROKEN):
        async with to_client:
            async for chunk in chunks(process.stdout):
                child.allowance.unasked(0, len(chunk))
                for line in lines.feed(chunk):
                    await _pass_on(line, to_client, child)
            await _pass_on_last(lines.end(), to_client, child)


async def _pass_on_last(
    line: bytes | Overlong, to_client: MemoryObjectSendStream[Incoming], child: Child
) -> None:
    """Pass on what has no end of a line if it is a message. An answer that broke off is none: the end of the
    server is what its call is told, so that no next call is made before that is known."""
    if not isinstance(line, Overlong) and _is_message(line):
        await _pass_on(line, to_client, child)
    else:
        child.tail.add(line.head if isinstance(line, Overlong) else line, "stdout: ")


def _is_message(line: bytes) -> bool:
    try:
        message_of(line)
    except ValueError:
        return False
    return True


async def _pass_on(line: bytes | Overlong, to_client: MemoryObjectSendStream[Incoming], child: Child) -> None:
    kept = line.head if isinstance(line, Overlong) else line
    if not kept.strip():
        return
    message = _message(line, child)
    if isinstance(message, SessionMessage) and isinstance(message.message, _ANSWERS):
        child.allowance.unasked(0, -len(kept))
    await to_client.send(message)


async def _write_messages(
    process: Process,
    from_client: MemoryObjectReceiveStream[SessionMessage],
    to_client: MemoryObjectSendStream[Incoming],
    allowance: Allowance,
) -> None:
    assert process.stdin is not None
    try:
        async for item in from_client:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            with anyio.fail_after(WRITE_SECONDS):
                await process.stdin.send(text.encode() + b"\n")
    except TimeoutError:
        allowance.exceed(f"it did not read what was sent to it for {WRITE_SECONDS:g} s")
    except BROKEN:
        to_client.close()


def _message(line: bytes | Overlong, child: Child) -> Incoming:
    """The message in ``line``. An unreadable answer is an error; servers print other lines, too, which are
    not heard."""
    try:
        if isinstance(line, Overlong):
            raise ValueError(f"an answer of more than {MAX_MESSAGE_BYTES} bytes")
        return message_of(line)
    except ValueError as fault_found:
        fault = str(fault_found)
    head = line.head if isinstance(line, Overlong) else line
    child.tail.add(head, "stdout: ")
    if found := _ID_AT_HEAD.match(head):
        return SessionMessage(refusal(int(found.group(1)), f"sent {fault}: {excerpt(head)}"))
    if (answer := None if isinstance(line, Overlong) else of_shared_stream(line)) and is_answer(head):
        return SessionMessage(answer)
    child.unowned.note(f"sent a line that is no message: {excerpt(head)}")
    return MalformedLine(fault)
