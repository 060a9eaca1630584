"""One client's messages down two ways, in this process: as stdio serves them, and by the SDK alone."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter
from typing_extensions import override

from tests.support.waiting import BOUND_S
from toolspan_server.live.views import ServerView
from toolspan_server.protocol.sdk.server import build_server
from toolspan_server.protocol.state.running_calls import Calls
from toolspan_server.protocol.stdio import server as stdio
from toolspan_server.protocol.stdio.pipes import Pipes
from toolspan_server.shutdown import Stop

Message = dict[str, Any]


class TameStop(Stop):
    """A ``Stop`` that does not end the process, which is the tests' own."""

    @override
    def end_within(self, seconds: float) -> None: ...

    @override
    def end_unless_alive(self, seconds: float) -> None: ...


async def served(view: ServerView, *lines: bytes | Message, plain: bool = True) -> list[Any]:
    """What a client gets that writes ``lines`` to a server on stdio and then closes its end."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    pipes = Pipes(their_in, their_out)
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    writer = threading.Thread(target=_write, args=(our_out, b"\n".join(texts)))
    reader = asyncio.get_running_loop().run_in_executor(None, _read, our_in)
    writer.start()
    with anyio.fail_after(BOUND_S):
        await stdio.serve(view, pipes, TameStop(), plain=plain)
        await anyio.to_thread.run_sync(writer.join)
        for fd in (their_in, their_out):
            os.close(fd)
        return [json.loads(line) for line in (await reader).splitlines()]


async def answered_by_the_sdk(view: ServerView, *messages: Message) -> list[Any]:
    """What ``Server.run`` of the SDK says to ``messages``, each given when the ones before are settled."""
    server = build_server(view, Calls())
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](100)
    outgoing, said = anyio.create_memory_object_stream[SessionMessage](100)
    answers: list[Any] = []
    async with anyio.create_task_group() as group:
        group.start_soon(server.run, receiver, outgoing, server.create_initialization_options())
        for message in messages:
            item = jsonrpc_message_adapter.validate_python(message, by_name=False)
            await sender.send(SessionMessage(item, ServerMessageMetadata()))
            if isinstance(item, JSONRPCRequest):
                with anyio.fail_after(BOUND_S):
                    answer = (await said.receive()).message
                answers.append(answer.model_dump(by_alias=True, mode="python", exclude_unset=True))
        group.cancel_scope.cancel()
    for stream in (sender, receiver, outgoing, said):
        stream.close()
    return answers


def settled(answers: Sequence[Any]) -> dict[str, Any]:
    """The answers by their id, as JSON, without the times that calls took."""
    return {json.dumps(answer.get("id")): _timeless(json.loads(json.dumps(answer))) for answer in answers}


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key != "execution_time_ms"}
    if isinstance(value, list):
        return [_timeless(item) for item in value]
    if isinstance(value, str) and value.startswith('{"success":'):
        return _timeless(json.loads(value))
    return value


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)


def _read(fd: int) -> bytes:
    received = b""
    while chunk := os.read(fd, 65_536):
        received += chunk
    os.close(fd)
    return received


class Piped:
    """A conversation with a server on stdio in this process, message by message."""

    def __init__(self, fd_in: int, fd_out: int) -> None:
        self._out = fd_out
        self._got = b""
        self._in = fd_in
        os.set_blocking(fd_in, False)

    def send(self, *messages: Message) -> None:
        """Write each message on a line of its own."""
        _ = [os.write(self._out, json.dumps(each).encode() + b"\n") for each in messages]

    async def receive(self) -> Message:
        """The next message."""
        with anyio.fail_after(BOUND_S):
            while b"\n" not in self._got:
                await anyio.wait_readable(self._in)
                self._got += os.read(self._in, 65_536)
        line, _, self._got = self._got.partition(b"\n")
        return json.loads(line)  # type: ignore[no-any-return]  # every message is an object

    async def ask(self, message: Message) -> Message:
        """Send one message and receive one."""
        self.send(message)
        return await self.receive()


@asynccontextmanager
async def piped(view: ServerView) -> AsyncGenerator[Piped]:
    """Serve ``view`` on pipes until the block ends; then the client's end is closed."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    async with anyio.create_task_group() as group:
        group.start_soon(stdio.serve, view, Pipes(their_in, their_out), TameStop())
        try:
            yield Piped(our_in, our_out)
        finally:
            os.close(our_out)
    for fd in (their_in, their_out, our_in):
        os.close(fd)
