"""A web API on loopback, in the test's event loop, whose every byte the test decides; tools that call it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from toolspan_server import Config, ToolResult, running
from toolspan_server.calls.caller import LOCAL
from toolspan_server.engines.http_client import HttpClient

from .executors import tool


@dataclass
class Seen:
    """A request as it came in. Header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Reply = Callable[[Seen], bytes | Iterable[bytes]]


def response(body: bytes | str = b"", status: int = 200, **headers: str) -> bytes:
    """A response; underscores in the names of ``headers`` are hyphens."""
    content = body.encode() if isinstance(body, str) else body
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Content-Length": str(len(content)), **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + content


def data(value: Any, status: int = 200, **headers: str) -> bytes:
    """A JSON response."""
    return response(json.dumps(value), status, **{"Content-Type": "application/json", **headers})


def echoed(seen: Seen) -> bytes:
    """What was asked, as JSON."""
    body = seen.body.decode("utf-8", "replace")
    return data({"method": seen.method, "target": seen.target, "headers": seen.headers, "body": body})


@dataclass
class Api:
    """``reply`` makes each response, or parts of it; an empty one closes the connection, ``HANG`` not."""

    reply: Reply = echoed
    port: int = 0
    scheme: str = "http"
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def replies(self, *responses: bytes | list[bytes]) -> None:
        """Give ``responses`` one after another, the last one for ever."""
        left = list(responses)
        self.reply = lambda _: left.pop(0) if len(left) > 1 else left[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                reply = self.reply(seen)
                if reply is HANG:
                    await reader.read()
                    break
                if not reply:
                    break
                for part in (reply,) if isinstance(reply, bytes) else reply:
                    if not part:
                        return
                    writer.write(part)
                    await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.closed.set()
            writer.close()


HANG: bytes = bytes(bytearray(b"hang"))


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, target, headers, body)


@asynccontextmanager
async def serving(reply: Reply = echoed, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Api]:
    """An API at a free port of loopback."""
    api = Api(reply, scheme="http" if tls is None else "https")
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0, ssl=tls)
    api.port = server.sockets[0].getsockname()[1]
    try:
        yield api
    finally:
        server.close()


Call = Callable[..., Awaitable[ToolResult]]


@asynccontextmanager
async def http_tool(
    url: str,
    parameters: Any = None,
    *,
    resolver: Callable[[str, int], Awaitable[Sequence[str]]] | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    **implementation: Any,
) -> AsyncGenerator[Call]:
    """A tool of the kind ``http``, to be called with its arguments; it may reach 127.0.0.1 by default."""
    described = {"type": "http", "url": url, "allow_private": ["127.0.0.1"], **implementation}
    config = Config.model_validate({"tools": {"registry": [tool("t", described, parameters)]}})
    async with running(config) as runtime:
        options: dict[str, Any] = {} if sleep is None else {"sleep": sleep}
        runtime.snapshot.environment.shared.get(HttpClient, lambda: HttpClient(resolver, **options))

        async def call(**arguments: Any) -> ToolResult:
            return await runtime.execute("t", arguments, LOCAL)

        yield call
