"""An ASGI app called in this process: one request, and everything that it answers."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.support.served import BOUND_S
from toolspan_server.http_server.guard import App

Headers = dict[str, str] | list[tuple[str, str]]


@dataclass
class Reply:
    """One answer. ``started`` and ``ended`` are set as it comes, ``more`` with each part of the body."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    started: anyio.Event = field(default_factory=anyio.Event)
    more: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)

    @property
    def kind(self) -> str:
        """``json``, ``stream``, ``none`` (no body) or whatever else the content type is."""
        content_type = self.headers.get("content-type", "").partition(";")[0]
        if not self.body and content_type != "text/event-stream":
            return "none"
        return {"application/json": "json", "text/event-stream": "stream"}.get(content_type, content_type)

    @property
    def messages(self) -> list[Any]:
        """The JSON-RPC messages in the body, which is JSON or an event stream."""
        if self.kind == "stream":
            data = [line[5:] for line in self.body.splitlines() if line.startswith(b"data:")]
            return [json.loads(line) for line in data if line.strip()]
        return [] if self.kind == "none" else [json.loads(self.body)]

    @property
    def message(self) -> Any:
        """The only message."""
        [message] = self.messages
        return message


class Client:
    """Sends requests to ``app``. Setting ``gone`` disconnects the client of a request.

    ``scope`` is more of every request's ASGI scope.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.scope: dict[str, Any] = {}

    async def ask(
        self,
        method: str,
        body: bytes = b"",
        headers: Headers | None = None,
        *,
        path: str = "/mcp",
        reply: Reply | None = None,
        gone: anyio.Event | None = None,
    ) -> Reply:
        """The answer to one request, whole. Pass ``reply`` to watch it come."""
        reply = Reply() if reply is None else reply
        given = list(headers.items() if isinstance(headers, dict) else headers or [])
        scope: MutableMapping[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path.partition("?")[0],
            "raw_path": path.encode(),
            "query_string": path.partition("?")[2].encode(),
            "root_path": "",
            "headers": [(b"host", b"localhost"), *((k.lower().encode(), v.encode()) for k, v in given)],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            **self.scope,
        }
        sent = False

        async def receive() -> MutableMapping[str, Any]:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}
            if gone is None:
                await reply.ended.wait()
            else:
                await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                reply.status = message["status"]
                reply.headers = {k.decode().lower(): v.decode() for k, v in message["headers"]}
                reply.started.set()
            else:
                reply.body += message.get("body", b"")
                came, reply.more = reply.more, anyio.Event()
                came.set()
                if not message.get("more_body", False):
                    reply.ended.set()

        with anyio.fail_after(BOUND_S):
            await self._app(scope, receive, send)
        return reply
