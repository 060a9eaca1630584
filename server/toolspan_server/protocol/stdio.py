"""MCP over standard input and output.

Every line gets its answer, whatever it holds; at the end of the input, running calls still answer.
The messages go through ``mcp``'s ``Server.run``; the lines are ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from . import jsonrpc
from ._pipes import Pipes
from .stop import GRACE_S, LIMIT_S, Stop

_HANG_UP_CHECK_S = 0.5


async def serve(server: Server[Any], pipes: Pipes, stop: Stop) -> None:
    """Serve the one client of ``pipes`` until it leaves or ``stop`` says so."""
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    answers = _Answers(pipes, stop)
    async with anyio.create_task_group() as group:
        group.start_soon(_watch, pipes, stop)
        group.start_soon(_read, pipes, sender, answers, stop)
        await server.run(receiver, answers, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _watch(pipes: Pipes, stop: Stop) -> None:
    while not pipes.hung_up():  # noqa: ASYNC110  # no event tells that a pipe's reader has gone
        await anyio.sleep(_HANG_UP_CHECK_S)
    stop.request()


async def _read(
    pipes: Pipes, sender: MemoryObjectSendStream[SessionMessage | Exception], answers: _Answers, stop: Stop
) -> None:
    async with sender:
        async with anyio.create_task_group() as group:
            group.start_soon(_until, stop.wait, group.cancel_scope)
            lines = jsonrpc.Lines()
            async for chunk in pipes.chunks():
                for line in lines.feed(chunk):
                    await _accept(line, sender, answers)
            await _accept(lines.end(), sender, answers)
            group.cancel_scope.cancel()
        await answers.all_given()
    stop.end_within(LIMIT_S - GRACE_S)


async def _until(awaited: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    await awaited()
    scope.cancel()


async def _accept(
    line: bytes | None, sender: MemoryObjectSendStream[SessionMessage | Exception], answers: _Answers
) -> None:
    try:
        raw = jsonrpc.read_message(line)
        if raw is None:
            return
        message = jsonrpc_message_adapter.validate_python(raw, by_name=False)
        if not isinstance(message, JSONRPCRequest):
            sender.send_nowait(SessionMessage(message))
            return
        answers.expect(message.id)
    except jsonrpc.Refusal as refusal:
        await answers.refuse(refusal)
    except ValidationError:
        pass  # a malformed answer to a question that we never ask
    else:
        settled = partial(answers.settle, message.id)
        sender.send_nowait(SessionMessage(message, ServerMessageMetadata(on_request_unanswered=settled)))


class _Answers:
    """The stream that ``Server.run`` writes to; it knows which requests still wait for an answer."""

    def __init__(self, pipes: Pipes, stop: Stop) -> None:
        self._pipes = pipes
        self._stop = stop
        self._open: set[jsonrpc.RequestId] = set()
        self._settled = anyio.Event()

    def expect(self, request_id: jsonrpc.RequestId) -> None:
        """Note a request; raises ``Refusal`` when one with the same id still waits."""
        if request_id in self._open:
            raise jsonrpc.Refusal(
                jsonrpc.INVALID_REQUEST,
                "Invalid Request: a request with this id is still running",
                request_id,
            )
        self._open.add(request_id)

    async def settle(self, request_id: jsonrpc.RequestId | None) -> None:
        """Note that a request is answered, or, being cancelled, never will be."""
        if request_id is not None:
            self._open.discard(request_id)
        self._settled.set()

    async def all_given(self) -> None:
        """Return when nothing waits, when nothing was answered for a while, or when nobody listens."""
        while self._open and not self._pipes.closed:
            self._settled = anyio.Event()
            with anyio.move_on_after(GRACE_S) as patience:
                await self._settled.wait()
            if patience.cancelled_caught:
                return

    async def refuse(self, refusal: jsonrpc.Refusal) -> None:
        """Answer a line that never reaches the server."""
        await self._write(jsonrpc.encode(refusal.answer()))

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message of the server."""
        message = item.message
        raw = message.model_dump(by_alias=True, mode="python", exclude_unset=True)
        await self._write(jsonrpc.encode(raw))
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            await self.settle(message.id)

    async def _write(self, line: bytes) -> None:
        await self._pipes.write(line)
        if self._pipes.closed:
            self._stop.request()

    async def aclose(self) -> None:
        """Nothing to close: the descriptors belong to the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        return None
