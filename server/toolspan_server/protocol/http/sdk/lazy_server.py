"""The SDK's server behind an endpoint: imported and started by the first request that needs it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread

from ....common.sdk_import import importing_sdk
from ....common.supervision import run_contained
from ....http_server.guard import (
    App,
    Receive,
    Scope,
    Send,
)
from ....http_server.open_requests import OpenRequests
from ....live.views import ServerView
from ...state.memory_budgets import MemoryBudgets
from ...state.running_calls import Calls
from ..exchange import Exchange

if TYPE_CHECKING:
    from .transport import SdkHttp


class LazySdkServer:
    """The SDK's HTTP server. Its import, half a second, runs in a thread, so that others are served
    meanwhile.
    """

    def __init__(self, make: Callable[[], SdkHttp], group: anyio.abc.TaskGroup) -> None:
        self._make = make
        self._group = group
        self._starting = anyio.Lock()
        self._started: SdkHttp | None = None
        self._requests = OpenRequests()

    async def get(self) -> SdkHttp:
        """The SDK's server, running."""
        if self._started is None:
            async with self._starting:
                if self._started is None:
                    made = await anyio.to_thread.run_sync(self._make, abandon_on_cancel=True)
                    gc.freeze()  # of its modules none is ever discarded
                    await self._group.start(self._run, made)
                    self._started = made
        return self._started

    async def _run(self, made: SdkHttp, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Run ``made``; when it has failed, the next request starts another one."""
        await run_contained("the SDK's HTTP server", partial(made.run, task_status=task_status))
        self._started = None

    async def answer(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        """Let ``app``, of the SDK's server, answer a request."""
        await self._requests.answer(app, scope, receive, send)

    async def hand(self, exchange: Exchange, app: App | None = None) -> None:
        """Let ``app`` answer, or, for a request without a session, the SDK's server."""
        answering = (await self.get()).handle if app is None else app
        await exchange.hand(partial(self.answer, answering))

    def part(self) -> None:
        """End the subscriptions, with the message that announces it to their clients."""
        if self._started is not None:
            self._started.end_subscriptions()

    def close(self) -> None:
        """End every answer that the SDK is giving."""
        self._requests.close()


def maker(
    view: ServerView, calls: Calls, message_bytes: int, budgets: MemoryBudgets
) -> Callable[[], SdkHttp]:
    """A function that imports the SDK and creates its server."""

    def make() -> SdkHttp:
        with importing_sdk():
            from ...sdk.server import build_server
            from .transport import SdkHttp

        return SdkHttp(build_server(view, calls, budgets.results), view, message_bytes, budgets)

    return make
