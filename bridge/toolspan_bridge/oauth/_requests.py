"""Requests of a sign-in, bounded in time and size, to addresses that the MCP server may name. They carry no
header or cookie of the MCP server's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2

from toolspan_server.common.json_values import read_foreign_json
from toolspan_server.common.no_cookies import NoCookies
from toolspan_server.common.wire.tap import WireMessage, on_wire
from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of, is_loopback, origin
from ._guarded import Guarded, Resolve, is_proxied, resolved

_SECONDS = 15.0
_MAX_BYTES = 1024 * 1024
_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its HTTP status, its JSON object, empty where the body is none, and the ``nonce`` that later
    proofs are to have (RFC 9449)."""

    status: int
    data: Mapping[str, Any]
    nonce: str = ""


class Requests:
    """Asks servers about the MCP server at the URL ``server``. Raises ``AuthError`` when one does not answer,
    or with too much, and when it is at a private address that neither the server is at nor ``meant`` names.
    """

    def __init__(self, server: str, meant: Iterable[str] = (), resolve: Resolve = resolved) -> None:
        guard = Guarded((server, *meant), server, resolve)
        self._direct = _client(guard)
        self._proxied = self._direct if is_loopback(server) else _client(None)

    async def get(self, url: str) -> Reply:
        """The document at ``url``; redirects are followed within its origin only."""
        reply, location = await self._send("GET", url)
        for _ in range(_REDIRECTS):
            if not location or origin(location) != origin(url):
                break
            reply, location = await self._send("GET", url := location)
        return reply

    async def post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        """The answer to a form; redirects are not followed."""
        return (await self._send("POST", url, data=dict(form), headers=dict(headers)))[0]

    async def post_json(self, url: str, data: Mapping[str, Any]) -> Reply:
        """The answer to a JSON object; redirects are not followed."""
        return (await self._send("POST", url, json=dict(data)))[0]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._direct.aclose()
        await self._proxied.aclose()

    async def _send(self, method: str, url: str, **more: Any) -> tuple[Reply, str]:
        client = self._proxied if is_proxied(url) else self._direct
        try:
            _tell(url, f"{method} {_without_query(url)}", sent=True)
            async with client.stream(method, url, **more) as response:
                _tell(url, f"{response.status_code} of {method} {_without_query(url)}", sent=False)
                body = bytearray()
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MAX_BYTES:
                        raise AuthError(f"{host_of(url)} answered with more than {_MAX_BYTES:,} bytes")
                onward = response.next_request
                nonce = response.headers.get("DPoP-Nonce", "")
                reply = Reply(response.status_code, _object(bytes(body)), nonce)
                return reply, str(onward.url) if onward else ""
        except httpx2.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise AuthError(f"{host_of(url)} cannot be asked for a sign-in: {reason}") from None


@asynccontextmanager
async def requests(server: str, settings: OAuthClientConfig) -> AsyncGenerator[Requests]:
    """Requests about the server at that URL, until the block ends. What ``settings`` name may be private."""
    provider = settings.identity_provider
    meant = (settings.issuer, provider.issuer if provider is not None else None)
    made = Requests(server, [url for url in meant if url is not None])
    try:
        yield made
    finally:
        await made.aclose()


def _tell(url: str, head: str, *, sent: bool) -> None:
    """Tell whoever watches the wire of a request, without its body: that is made of secrets."""
    if (tap := on_wire.get()) is not None:
        tap.message(WireMessage(f"sign-in at {host_of(url)}", sent, head))


def _without_query(url: str) -> str:
    return url.partition("?")[0].partition("#")[0]


def _client(transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """A client that goes by ``transport``, or by the proxies of the environment."""
    return httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(_SECONDS),
        # Between two requests a person may take minutes, after which no connection is as it was.
        limits=httpx2.Limits(max_keepalive_connections=0),
        follow_redirects=False,
        cookies=NoCookies(),
        headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "toolspan"},
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        value: Any = read_foreign_json(body)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
