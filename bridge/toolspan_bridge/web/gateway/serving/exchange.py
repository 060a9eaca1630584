"""One request of the gateway over HTTP: answered whole or as it comes, given up when the client goes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio import from_thread

from toolspan_server.common.beside_loop import LARGE_BYTES, run_beside

from ...activity import Began
from ...json_requests import RequestJson
from ..apis import Api, Earlier
from ..asked import Asked
from ..faults import RequestFault, fault_in
from ..history.hidden import Hidden
from ..replies import Collector
from .cached import CachedAnswers, Caching, seconds_of
from .caller import Who
from .choosing import choice_of
from .running import Origin, Run, Runs
from .sending import body_of, headers_of, headers_of_fault, send_json
from .streamed import StreamedAnswer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

__all__ = ["MOST_AT_ONCE", "PING_SECONDS", "Admission", "Answering", "Exchange", "while_connected"]

MOST_AT_ONCE = 1_000
"""How many requests are answered at the same time."""
PING_SECONDS = 10.0
"""After so long a silence of a stream a ping is sent."""
_RETRY_SECONDS = 1


@dataclass(slots=True)
class Admission:
    """How many requests are answered now, of ``most``; those of one principal take half of them at most.
    Callers without a key are one principal together."""

    most: int = MOST_AT_ONCE
    running: int = 0
    _of: Counter[str] = field(default_factory=Counter[str])

    @contextmanager
    def entered(self, principal: str) -> Generator[None]:
        """One more of ``principal`` until the block ends. Raises ``RequestFault`` for one too many."""
        share = max(1, self.most // 2)
        why = f"{self.most} requests are answered" if self.running >= self.most else ""
        if self._of[principal] >= share:
            why = f"{share} requests of the same caller are answered"
        if why:
            why = f"{why} at the same time; try again"
            raise RequestFault(why, status=429, code="too_many_requests", retry_after=_RETRY_SECONDS)
        self.running += 1
        self._of[principal] += 1
        try:
            yield
        finally:
            self.running -= 1
            self._of[principal] -= 1
            if not self._of[principal]:
                del self._of[principal]


@dataclass(frozen=True, slots=True)
class Answering:
    """What all exchanges share: ``runs`` answers, ``who`` says who asks, a stream that is silent for
    ``ping_seconds`` gets a ping, and answers are kept in ``cached``, for ``cache_seconds`` where the request
    does not say."""

    runs: Runs
    who: Who
    admission: Admission = field(default_factory=Admission)
    ping_seconds: float = PING_SECONDS
    cached: CachedAnswers = field(default_factory=CachedAnswers)
    cache_seconds: Callable[[], int] = lambda: 0


class Exchange:
    """The ASGI endpoint of one inbound ``api``."""

    def __init__(self, api: Api, answering: Answering) -> None:
        self._api = api
        self._answering = answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        from starlette.requests import Request

        request = _Asking(Request(scope, receive))
        async with AsyncExitStack() as stack:
            try:
                run = await self._begun(request, stack)
            except Exception as error:
                await self._refuse(send, request, error)
                return
            await while_connected(receive, lambda: self._answer(run, send))

    async def _begun(self, asking: _Asking, stack: AsyncExitStack) -> Run:
        answering, request = self._answering, asking.request
        caller = answering.who(request)
        body, size = await body_of(request)
        asking.model = _model_in(body)
        earlier = answering.runs.earlier(caller.principal)
        asked = await _parsed_beside(size, self._api, body, earlier)
        choice = choice_of(asked.model, request.headers)
        path, seconds = request.url.path, seconds_of(request.headers, answering.cache_seconds())
        caching = Caching(answering.cached, path, caller.principal, body, seconds) if seconds else None
        origin = Origin(caller, path, asking.began, caching)
        run = await stack.enter_async_context(answering.runs.begin(self._api, asked, choice, origin))
        # Only now, as a body that never ends holds no place.
        stack.enter_context(answering.admission.entered(caller.principal))
        return run

    async def _answer(self, run: Run, send: Send) -> None:
        if run.asked.stream:
            await StreamedAnswer(self._api, run, send, self._answering.ping_seconds).send_all()
            return
        collector = Collector()
        try:
            async with aclosing(run.pieces()) as pieces:
                async for piece in pieces:
                    collector.add(piece)
        except Exception as error:
            await self._send_fault(send, fault_in(error), headers_of(run))
            return
        whole = collector.whole
        body = self._api.render_answer(run.begun, whole)
        await send_json(send, body, headers=headers_of(run, whole.warnings))

    async def _refuse(self, send: Send, asking: _Asking, error: Exception) -> None:
        caller = self._answering.who(asking.request)
        origin = Origin(caller, asking.request.url.path, asking.began)
        fault = fault_in(error)
        why = fault.code or f"http_{fault.status}", fault.message
        self._answering.runs.activity.refused(origin.about(), asking.began, why, asking.model)
        await self._send_fault(send, fault)

    async def _send_fault(
        self, send: Send, fault: RequestFault, headers: dict[str, str] | None = None
    ) -> None:
        head = (headers or {}) | headers_of_fault(fault)
        await send_json(send, self._api.render_error(fault), fault.status, head)


@dataclass(slots=True)
class _Asking:
    """A request, and what is known of it before it is read."""

    request: Request
    began: Began = field(default_factory=Began)
    model: str = ""


async def _parsed_beside(size: int, api: Api, body: RequestJson, earlier: Earlier) -> Asked:
    """What ``body``, of ``size`` bytes, asks, read beside the event loop where it is long; only the loop
    looks into what was seen ``earlier``."""
    if size < LARGE_BYTES:
        return api.parse(body, earlier)

    def find(response: str) -> Hidden:
        return from_thread.run_sync(earlier, response)

    return await run_beside(size, lambda: api.parse(body, find))


def _model_in(body: Any) -> str:
    model: Any = cast("dict[str, Any]", body).get("model") if isinstance(body, dict) else None
    return model[:200] if isinstance(model, str) else ""


async def while_connected(receive: Receive, answer: Callable[[], Awaitable[None]]) -> None:
    """Wait for ``answer``; it is cancelled when the client goes away."""
    with anyio.CancelScope() as scope:
        watching = asyncio.create_task(_cancelled_when_gone(receive, scope))  # a task group costs more
        try:
            await answer()
        finally:
            watching.cancel()


async def _cancelled_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
