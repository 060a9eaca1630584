"""Connections that no far server can turn on this machine or a private network: a name is resolved once, its
addresses are checked, and one of those is connected to."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
import httpx2
from typing_extensions import override

from toolspan_server.engines.http_client import Hosts

from ..errors import AuthError

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a host, as texts. Raises ``OSError``."""

_TRIED = 4
_RESOLVING_SECONDS = 15
_PRIVATE = frozenset(("private", "shared by a carrier"))
_PUBLIC = Hosts()


async def resolved(host: str) -> list[str]:
    """The addresses of ``host`` as the system knows them. Raises ``OSError``."""
    with anyio.fail_after(_RESOLVING_SECONDS):
        found = await anyio.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_proxied(url: str) -> bool:
    """Whether a proxy of the environment is asked for ``url``, which then decides where it goes."""
    parts = urlsplit(url)
    proxies = getproxies()
    return (parts.scheme in proxies or "all" in proxies) and not proxy_bypass(parts.hostname or "")


class Guarded(httpx2.AsyncHTTPTransport):
    """Connects to public addresses, and to the hosts of the URLs ``meant`` wherever they are; to private
    ones, or to this machine, only where the MCP server at the URL ``server`` is too. Raises ``AuthError``."""

    def __init__(self, meant: Iterable[str], server: str, resolve: Resolve = resolved) -> None:
        super().__init__(limits=httpx2.Limits(max_keepalive_connections=0))
        self._meant = {urlsplit(url).hostname or "" for url in meant}
        self._server = urlsplit(server).hostname or ""
        self._resolve = resolve

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url, host = request.url, request.url.host
        *others, last = await self._addresses(host)

        def to(address: str) -> httpx2.Request:
            return httpx2.Request(
                request.method,
                url.copy_with(host=address),
                headers=request.headers,  # with the Host of the name, for which the certificate has to be
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )

        for address in others:
            try:
                return await super().handle_async_request(to(address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await super().handle_async_request(to(last))

    async def _addresses(self, host: str) -> list[str]:
        found = await self._found(host)
        if host not in self._meant:
            for address in found:
                what = _what(address)
                if what is not None and what not in await self._own():
                    raise AuthError(
                        f"{host} is at a {what} address, which {self._server} is not: refused (if it is "
                        "meant, name it as the issuer in the server's oauth)"
                    )
        return list(found[:_TRIED])

    async def _own(self) -> frozenset[str]:
        """What sort of address the MCP server is at allows those that it names to be at."""
        own = {_what(address) for address in await self._found(self._server)}
        if own == {"loopback"}:
            return _PRIVATE | {"loopback"}
        return _PRIVATE if own and own <= _PRIVATE else frozenset()

    async def _found(self, host: str) -> Sequence[str]:
        try:
            found = await self._resolve(host)
        except (OSError, UnicodeError) as error:
            raise AuthError(f"{host} has no address ({error})") from None
        if not found:
            raise AuthError(f"{host} has no address")
        return found


def _what(address: str) -> str | None:
    """``private``, ``loopback`` … for an address that is no public one."""
    return _PUBLIC.refusal("", ip_address(address.partition("%")[0]))
