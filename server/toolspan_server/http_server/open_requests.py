"""The open requests of apps that do not end by themselves."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

import anyio

from .asgi import (
    App,
    Receive,
    RefusedResponse,
    Render,
    Scope,
    Send,
)

_log = logging.getLogger(__name__)


class OpenRequests:
    """Passes requests to an app, so that the shutdown of the server can end them properly.

    ``render`` writes the body of an answer that the app did not give.
    """

    def __init__(self, render: Render | None = None) -> None:
        self._render = render
        self._scopes: set[anyio.CancelScope] = set()

    def close(self) -> None:
        """End every open answer: a stream with its last chunk, any other with 503."""
        for scope in self._scopes:
            scope.cancel()

    async def answer(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        """Let ``app`` answer, until ``close``."""
        started = finished = False

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal started, finished
            started = True
            finished = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        with anyio.CancelScope() as cancelling:
            self._scopes.add(cancelling)
            try:
                await app(scope, receive, noted)
            except Exception:
                if started:
                    raise
                _log.exception("a request to %s failed", scope["path"])
                await RefusedResponse(500, "Internal error").send(send, self._render)
            finally:
                self._scopes.discard(cancelling)
        if not cancelling.cancel_called or finished:
            return
        if started:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await RefusedResponse(503, "The server is stopping").send(send, self._render)
