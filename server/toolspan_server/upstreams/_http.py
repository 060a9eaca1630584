"""The HTTP transports: Streamable HTTP and legacy HTTP+SSE, with bounded bodies."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from ._spec import ServerSpec
from ._stdio import MAX_MESSAGE_BYTES, Child

_CONNECT_SECONDS = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _Capped(httpx2.AsyncByteStream):
    """A body that fails once it is longer than a message may be."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(f"the answer is longer than {MAX_MESSAGE_BYTES} bytes")
            yield chunk

    @override
    async def aclose(self) -> None:
        await self._body.aclose()


def _client(spec: ServerSpec, child: Child) -> httpx2.AsyncClient:
    async def bound(response: httpx2.Response) -> None:
        child.status = response.status_code if response.status_code >= 400 else None
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the server compressed its answer although asked not to")
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Capped(response.stream)

    return httpx2.AsyncClient(
        headers={**spec.headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
        trust_env=httpx2.URL(spec.url).host not in _LOOPBACK,
        event_hooks={"response": [bound]},
    )


@asynccontextmanager
async def http_streams(spec: ServerSpec, child: Child) -> AsyncGenerator[Any]:
    """The message streams of the Streamable HTTP server at the spec's url."""
    async with (
        _client(spec, child) as client,
        streamable_http_client(spec.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


def sse_streams(spec: ServerSpec, child: Child) -> AbstractAsyncContextManager[Any]:
    """The message streams of the legacy HTTP+SSE server at the spec's url."""

    def factory(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return _client(spec, child)

    return sse_client(spec.url, httpx_client_factory=factory)
