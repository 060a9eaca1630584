"""The app put together: guard, limits, endpoints and parts, as one ASGI app."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import anyio
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from toolspan_server.http_server.guard import Access, Guard
from toolspan_server.http_server.open_requests import OpenRequests

from ...providers.catalog.scripted import only_in
from ..keys.admission import VirtualKeys
from . import found
from .api_keys import with_api_keys
from .headers import with_headers
from .keyed import keyed_access
from .own_origin import refusal
from .refusals import as_problem, render_of
from .resources import routes_of
from .routing import router_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from toolspan_server.config import Config
    from toolspan_server.http_server.access import AccessOptions
    from toolspan_server.http_server.asgi import App as AsgiApp
    from toolspan_server.http_server.asgi import Receive, Render, Scope, Send

    from ..part import Part
    from .state import App

_log = logging.getLogger(__name__)
_OPEN = ("/healthz",)


def found_parts(*, page: bool) -> tuple[Part, ...]:
    """The parts of the app; without ``page`` what belongs to the page is left out."""
    return tuple(part for part in found.parts() if page or not part.page)


def public_paths(*, page: bool) -> tuple[str, ...]:
    """The paths that need no token: what a browser loads before a person can give one."""
    return (*_OPEN, *(path for part in found_parts(page=page) for path in part.public))


class Application:
    """Every route behind the guard. ``access`` says who may come in; without ``page`` what belongs to the
    page is left out."""

    def __init__(self, state: App, access: AccessOptions, *, page: bool = True) -> None:
        self.state = state
        self._access = access
        self._parts = found_parts(page=page)
        self._requests = OpenRequests(as_problem)
        self._guard: Guard | None = None
        self._access_now = Access()
        self._running = 0
        self._ended = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[AsgiApp]:
        """The ASGI app, for the block. Raises as ``App.running`` does."""
        self.state.live.followers.append(self._access_of)
        async with self.state.running(), AsyncExitStack() as stack:
            stack.enter_context(only_in(lambda: {path.parent for path in self.state.config.files}))
            for part in self._parts:
                if part.lifespan is not None:
                    await stack.enter_async_context(part.lifespan(self.state))
            app = _of_own_pages(self._router(), self.render_of)
            self._guard = Guard(app, self._access_now, render_of=self.render_of)
            yield with_headers(with_api_keys(self._guard))

    def _access_of(self, config: Config) -> Callable[[], None]:
        """What lets those in whom ``config`` does. Raises ``ServeError`` and ``ConfigError``, before it is
        used."""
        access = keyed_access(self._access, config, lambda: self.state.of(VirtualKeys))

        def apply() -> None:
            self._access_now = access
            if self._guard is not None:
                self._guard.replace(access)

        return apply

    async def finished(self, seconds: float) -> None:
        """Return once no request is being answered, or after ``seconds``."""
        with anyio.move_on_after(seconds):
            while self._running:
                self._ended = anyio.Event()
                await self._ended.wait()

    def close(self) -> None:
        """End every open answer, streams too."""
        self._requests.close()

    def render_of(self, scope: Scope) -> Render:
        """What writes the refusals of a request."""
        return render_of(self._parts, scope)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """Every route of the app."""
        found_routes: list[BaseRoute] = [
            Route("/healthz", _healthy),
            *routes_of(self.state, found.endpoints()),
        ]
        for part in self._parts:
            if part.routes is not None:
                found_routes += part.routes(self.state)
        return found_routes

    def _router(self) -> AsgiApp:
        router = router_of(self.routes, self.render_of)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            self._running += 1
            try:
                await router(scope, receive, send)
            finally:
                self._running -= 1
                self._ended.set()

        return cast("AsgiApp", partial(self._requests.answer, answer))


def _of_own_pages(app: AsgiApp, render_of: Callable[[Scope], Render]) -> AsgiApp:
    """``app`` for requests of programs and of our own pages; others are refused."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        refused = refusal(scope)
        if refused is None:
            await app(scope, receive, send)
        else:
            await refused.send(send, render_of(scope))

    return answer


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok\n")
