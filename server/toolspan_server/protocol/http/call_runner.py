"""Runs tool calls of the fast path over HTTP: within limits, cancellable, with pings on long ones."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from ...common.running import Running
from ..fast_path import Call
from ..messages.jsonrpc import RequestId
from ..state.running_calls import Calls
from .call_endings import End
from .exchange import Exchange

QUIET_S = 5.0
"""How many seconds a call may take before its answer becomes a stream."""

_PING_EVERY_S = 15.0


class CallRunner:
    """Runs calls, and keeps track of long ones, so that they can be ended."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._waiting: set[Running[bytes]] = set()

    async def made(self, call: Call, exchange: Exchange) -> bytes:
        """The answer to ``call``, which is cancelled when its client disconnects.

        MCP 2026-07-28, basic/transports: a disconnect MUST be taken as cancellation.
        """
        work = partial(call.run, exchange.origin())
        running = Running(self._calls.run(work, call.tool.timeout_ms))
        if running.done:
            return running.result
        watching = asyncio.get_running_loop().create_task(_watch(exchange, running))
        try:
            return await self._finished(running, exchange)
        finally:
            watching.cancel()

    async def made_regardless(
        self,
        call: Call,
        exchange: Exchange,
        running_by_id: dict[RequestId, Running[bytes]],
        client: Any = None,
    ) -> bytes:
        """The answer to ``call``, which a disconnect does not cancel; listed in ``running_by_id`` meanwhile.
        ``client`` is the ``clientInfo`` of its session.

        MCP 2025-11-25, basic/transports: a disconnect SHOULD NOT be taken as cancellation.
        """
        work = partial(call.run, exchange.origin(client))
        running = Running(self._calls.run(work, call.tool.timeout_ms))
        if running.done:
            return running.result
        running_by_id[call.request_id] = running
        try:
            return await self._finished(running, exchange)
        finally:
            del running_by_id[call.request_id]

    def stop(self) -> None:
        """End every running call, because the server stops."""
        for running in self._waiting:
            running.stop(End.STOPPING)

    async def _finished(self, running: Running[bytes], exchange: Exchange) -> bytes:
        silence = _Silence(exchange)
        self._waiting.add(running)
        try:
            return await running.finished()
        finally:
            self._waiting.discard(running)
            silence.end()


class _Silence:
    """Turns the answer into an event stream with pings when a call takes long."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(QUIET_S, self._break)
        self._pinging: asyncio.Task[None] | None = None

    def end(self) -> None:
        self._timer.cancel()
        if self._pinging is not None:
            self._pinging.cancel()

    def _break(self) -> None:
        self._pinging = self._loop.create_task(self._ping())

    async def _ping(self) -> None:
        await self._exchange.stream()
        while True:
            await self._exchange.ping()
            await asyncio.sleep(_PING_EVERY_S)


async def _watch(exchange: Exchange, running: Running[bytes]) -> None:
    while (await exchange.receive())["type"] != "http.disconnect":
        pass
    running.stop(End.LEFT)
