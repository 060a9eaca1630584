"""An answer that is sent as it comes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio

from ..apis import Api
from ..faults import RequestFault, fault_in
from ..pieces import Warned
from .running import Run
from .sending import headers_of, headers_of_fault, send_head, send_json

if TYPE_CHECKING:
    from starlette.types import Send

__all__ = ["StreamedAnswer"]


class StreamedAnswer:
    """Sends the answer of ``run`` as it comes. The response begins with its first piece, or with the first
    ping, so that what fails before has a status of its own, and what is told before is in a header."""

    def __init__(self, api: Api, run: Run, send: Send, ping_seconds: float) -> None:
        self._api = api
        self._run = run
        self._send = send
        self._ping_seconds = ping_seconds
        self._stream = api.stream(run.begun)
        self._lock = anyio.Lock(fast_acquire=True)
        self._begun = False
        self._warnings: list[str] = []
        self._last = time.monotonic()

    async def send_all(self) -> None:
        """Send all of it; what goes wrong is told in it."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ping)
            try:
                async with aclosing(self._run.pieces()) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Warned) and not self._begun:
                            self._warnings.append(piece.text)
                        else:
                            await self._write(self._stream.piece(piece))
            except Exception as error:
                await self._fail(fault_in(error))
            if self._begun:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _ping(self) -> None:
        while True:
            await anyio.sleep(max(0.0, self._last + self._ping_seconds - time.monotonic()))
            if time.monotonic() - self._last >= self._ping_seconds:
                await self._write([self._stream.ping])

    async def _fail(self, fault: RequestFault) -> None:
        if self._begun or fault.code in self._api.told_in_stream:
            await self._write(self._stream.failed(fault))
            return
        head = self._headers | headers_of_fault(fault)
        await send_json(self._send, self._api.render_error(fault), fault.status, head)

    @property
    def _headers(self) -> dict[str, str]:
        return headers_of(self._run, tuple(self._warnings))

    async def _write(self, frames: Iterable[bytes]) -> None:
        async with self._lock:
            written = b""
            if not self._begun:
                headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}
                head = {**headers, "x-accel-buffering": "no", **self._headers}
                await send_head(self._send, 200, head)
                self._begun = True
                written = b"".join(self._stream.begin())
            written += b"".join(frames)
            if written:
                await self._send({"type": "http.response.body", "body": written, "more_body": True})
            self._last = time.monotonic()
