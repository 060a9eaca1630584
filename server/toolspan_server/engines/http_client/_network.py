"""Connections to checked addresses only. Imported with the first request: it needs the HTTP library."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Any

import anyio
import httpcore2
from httpcore2 import AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream
from typing_extensions import override

from ._addresses import Address
from ._errors import blocked, unreachable, unresolved
from ._hosts import Hosts

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, as texts."""

MAX_CONNECTIONS = 100
_KEPT = 20
_KEPT_SECONDS = 30.0
_TRIED = 4


async def resolve(host: str, port: int) -> list[str]:
    """The host's addresses as the system knows them. Raises ``OSError``."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def connection_pool(hosts: Hosts, tls: ssl.SSLContext, resolver: Resolver) -> httpcore2.AsyncConnectionPool:
    """Connections to where ``hosts`` allows. Proxies of the environment are not used."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls,
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=_KEPT,
        keepalive_expiry=_KEPT_SECONDS,
        network_backend=_Guarded(hosts, resolver),
    )


class _Guarded(AsyncNetworkBackend):
    """Resolves a name once, checks every address, and connects to one of those that were checked."""

    def __init__(self, hosts: Hosts, resolver: Resolver) -> None:
        self._hosts = hosts
        self._resolver = resolver
        self._network = AnyIOBackend()

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        try:
            with anyio.fail_after(timeout):
                addresses = await self._checked(host, port)
                return await self._first(addresses, port, local_address, socket_options)
        except TimeoutError:
            raise unreachable(host, "it took too long") from None
        except httpcore2.ConnectTimeout:
            raise unreachable(host, "it took too long") from None
        except httpcore2.ConnectError as error:
            raise unreachable(host, _reason(error)) from None

    async def _checked(self, host: str, port: int) -> list[Address]:
        try:
            texts = await self._resolver(host.strip("[]"), port)
            addresses = [ip_address(text.partition("%")[0]) for text in texts]
        except (OSError, UnicodeError, ValueError):
            raise unresolved(host) from None
        if not addresses:
            raise unresolved(host)
        for address in addresses:
            if (what := self._hosts.refusal(host, address)) is not None:
                raise blocked(host, what)
        return addresses[:_TRIED]

    async def _first(self, addresses: Sequence[Address], port: int, *rest: Any) -> AsyncNetworkStream:
        *others, last = addresses
        for address in others:
            try:
                return await self._network.connect_tcp(str(address), port, None, *rest)
            except httpcore2.ConnectError:
                continue
        return await self._network.connect_tcp(str(last), port, None, *rest)

    @override
    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def _reason(error: BaseException) -> str:
    """The system's error message, without the address."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ConnectionRefusedError):
            return "it refuses"
        if isinstance(found, OSError) and found.strerror:
            return found.strerror.lower()
        found = found.__cause__ or found.__context__
    return "it failed"
