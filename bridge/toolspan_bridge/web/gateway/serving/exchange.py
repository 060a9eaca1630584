"""One request of the gateway over HTTP: answered whole or as it comes, given up when the client goes."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from ....errors import BridgeError
from ..apis import Api
from ..faults import RequestFault, fault_of
from ..replies import Collector
from .choosing import choice_of
from .running import Run, Runs

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope, Send

__all__ = [
    "MOST_AT_ONCE",
    "MOST_BODY_BYTES",
    "PING_SECONDS",
    "Admission",
    "Exchange",
    "Who",
    "body_of",
    "send_json",
]

MOST_AT_ONCE = 1_000
"""How many requests are answered at the same time."""
MOST_BODY_BYTES = 64 * 1024 * 1024
"""The largest body of a request, which may hold images."""
PING_SECONDS = 10.0
"""After so long a silence of a stream a ping is sent."""
_MOST_WARNING = 1_000
_RETRY_SECONDS = 1

Who = Callable[["Request"], str]
"""The principal of a request: whose history and responses are meant."""


@dataclass(slots=True)
class Admission:
    """How many requests are answered now, of ``most``."""

    most: int = MOST_AT_ONCE
    running: int = 0

    def enter(self) -> None:
        """One more. Raises ``RequestFault`` where there are too many."""
        if self.running >= self.most:
            why = f"{self.most} requests are answered at the same time; try again"
            raise RequestFault(why, status=429, code="too_many_requests", retry_after=_RETRY_SECONDS)
        self.running += 1

    def leave(self) -> None:
        """One is done."""
        self.running -= 1


class Exchange:
    """The ASGI endpoint of one inbound ``api``. ``who`` gives a request's principal; a stream that is silent
    for ``ping_seconds`` gets a ping."""

    def __init__(
        self, api: Api, runs: Runs, who: Who, admission: Admission, ping_seconds: float = PING_SECONDS
    ) -> None:
        self._api = api
        self._runs = runs
        self._who = who
        self._admission = admission
        self._ping_seconds = ping_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        request = Request(scope, receive)
        try:
            self._admission.enter()
        except RequestFault as fault:
            await self._refuse(send, fault)
            return
        try:
            async with await self._begun(request) as run:
                await _while_connected(receive, lambda: self._answer(run, send))
        except RequestFault as fault:
            await self._refuse(send, fault)
        except BridgeError as error:
            await self._refuse(send, fault_of(error))
        finally:
            self._admission.leave()

    async def _begun(self, request: Request) -> AbstractAsyncContextManager[Run]:
        principal = self._who(request)
        asked = self._api.parse(await body_of(request), self._runs.earlier(principal))
        choice = choice_of(asked.model, request.headers)
        return self._runs.begin(self._api, asked, choice, principal)

    async def _answer(self, run: Run, send: Send) -> None:
        if run.asked.stream:
            await _Streamed(self._api, run, send, self._ping_seconds).send_all()
            return
        collector = Collector()
        try:
            async with aclosing(run.pieces()) as pieces:
                async for piece in pieces:
                    collector.add(piece)
        except RequestFault as fault:
            await self._refuse(send, fault)
            return
        except BridgeError as error:
            await self._refuse(send, fault_of(error))
            return
        whole = collector.whole
        body = self._api.render_answer(run.begun, whole)
        await send_json(send, body, headers=_headers(run, whole.warnings))

    async def _refuse(self, send: Send, fault: RequestFault) -> None:
        headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
        await send_json(send, self._api.render_error(fault), fault.status, headers)


class _Streamed:
    """Sends the answer of ``run`` as it comes. The response begins with its first piece, or with the first
    ping, so that what fails before has a status of its own."""

    def __init__(self, api: Api, run: Run, send: Send, ping_seconds: float) -> None:
        self._api = api
        self._run = run
        self._send = send
        self._ping_seconds = ping_seconds
        self._stream = api.stream(run.begun)
        self._lock = anyio.Lock()
        self._begun = False
        self._last = time.monotonic()

    async def send_all(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ping)
            try:
                async with aclosing(self._run.pieces()) as pieces:
                    async for piece in pieces:
                        await self._write(self._stream.piece(piece))
            except RequestFault as fault:
                await self._fail(fault)
            except BridgeError as error:
                await self._fail(fault_of(error))
            if self._begun:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _ping(self) -> None:
        while True:
            await anyio.sleep(max(0.0, self._last + self._ping_seconds - time.monotonic()))
            if time.monotonic() - self._last >= self._ping_seconds:
                await self._write([self._stream.ping])

    async def _fail(self, fault: RequestFault) -> None:
        if self._begun:
            await self._write(self._stream.failed(fault))
            return
        headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
        await send_json(self._send, self._api.render_error(fault), fault.status, headers)

    async def _write(self, frames: Iterable[bytes]) -> None:
        async with self._lock:
            written = b""
            if not self._begun:
                headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}
                head = {**headers, "x-accel-buffering": "no", **_headers(self._run)}
                await _send_head(self._send, 200, head)
                self._begun = True
                written = b"".join(self._stream.begin())
            written += b"".join(frames)
            if written:
                await self._send({"type": "http.response.body", "body": written, "more_body": True})
            self._last = time.monotonic()


async def _while_connected(receive: Receive, answer: Callable[[], Awaitable[None]]) -> None:
    """Wait for ``answer``; it is cancelled when the client goes away."""
    fault: Exception | None = None
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            await answer()
        except Exception as error:
            fault = error  # carried past the task group, which would wrap it
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault


async def body_of(request: Request) -> Any:
    """The JSON of a request. Raises ``RequestFault`` where there is none, or too much."""
    size, chunks = 0, list[bytes]()
    async for chunk in request.stream():
        size += len(chunk)
        if size > MOST_BODY_BYTES:
            raise RequestFault(f"the body is larger than {MOST_BODY_BYTES:,} bytes", status=413)
        chunks.append(chunk)
    try:
        return json.loads(b"".join(chunks))
    except (ValueError, RecursionError) as error:
        raise RequestFault(f"the body is no JSON: {str(error)[:200]}", code="invalid_json") from None


def _headers(run: Run, warnings: tuple[str, ...] = ()) -> dict[str, str]:
    """Which request it was, who answered, and what of the request had no effect."""
    known = {
        "x-request-id": run.begun.id,
        "request-id": run.begun.id,
        "x-toolspan-model": _plain(run.begun.model),
    }
    told = " | ".join(dict.fromkeys((*run.warnings, *warnings)))
    return known | ({"x-toolspan-warning": _plain(told)} if told else {})


def _plain(text: str) -> str:
    """``text`` as a header has it: printable ASCII, and not too much of it."""
    shown = text.encode("ascii", "backslashreplace").decode("ascii")[:_MOST_WARNING]
    return "".join(each if each.isprintable() else " " for each in shown)


async def send_json(
    send: Send, body: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with ``body`` as JSON."""
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    head = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
    await _send_head(send, status, head)
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def _send_head(send: Send, status: int, headers: Mapping[str, str]) -> None:
    head: Message = {
        "type": "http.response.start",
        "status": status,
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
    }
    await send(head)
