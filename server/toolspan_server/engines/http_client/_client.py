"""All requests of one server: its connections, its tokens, who is left alone for now."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import anyio

from ...errors import ToolFailure
from ._auth import HttpAuth, RequestCredentials, proof_of
from ._circuit import Circuit, HttpCircuit
from ._errors import (
    ExchangeBroken,
    RequestNotSent,
    timed_out,
    unusable_ca,
)
from ._hosts import Hosts, host_name
from ._request import Request
from ._response import HttpResponse
from ._retry import HttpRetry, Retrying
from ._secrets import Secrets
from ._tokens import TOKEN_BYTES, TokenSource

if TYPE_CHECKING:
    import ssl

    import httpcore2

    from ._exchange import HttpExchange
    from ._network import Resolver


@dataclass(frozen=True)
class Policy:
    """Settings for the requests of one tool. ``owner`` names the tool, ``secrets`` what no text may show."""

    hosts: Hosts = field(default_factory=Hosts)
    retry: HttpRetry = field(default_factory=HttpRetry.initial)
    circuit: HttpCircuit | None = None
    auth: HttpAuth | None = None
    timeout_ms: int = 25_000
    connect_timeout_ms: int = 10_000
    max_bytes: int = 5_242_880
    max_redirects: int = 5
    ca_file: Path | None = None
    owner: str = ""
    secrets: Secrets = field(default_factory=Secrets)


class HttpClient:
    """Makes requests. ``resolver`` gives a host's addresses, ``sleep`` waits between attempts."""

    def __init__(
        self,
        resolver: Resolver | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._resolver = resolver
        self._sleep = sleep
        self._pools: dict[Hashable, httpcore2.AsyncConnectionPool] = {}
        self._circuits: dict[Hashable, Circuit] = {}
        self._tokens: dict[Hashable, TokenSource] = {}

    async def send(self, request: Request, policy: Policy) -> HttpResponse:
        """The answer to ``request``, whatever its status. Raises ``ToolFailure`` when there is none."""
        host = urlsplit(request.url).hostname or ""
        ends = time.monotonic() + policy.timeout_ms / 1000
        try:
            with anyio.fail_after(policy.timeout_ms / 1000):
                return await self._proven(request, policy, ends)
        except TimeoutError:
            if (circuit := self._circuit(request, policy)) is not None:
                circuit.note(failed=True)
            raise timed_out(host, policy.timeout_ms) from None

    async def aclose(self) -> None:
        """Close every connection."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    async def _proven(self, request: Request, policy: Policy, ends: float) -> HttpResponse:
        """The answer; when a token is not taken any more, that to the same request with another."""
        proof = await self._proof(policy)
        answer = await self._repeated(_carrying(request, proof), policy, policy.retry, ends)
        if answer.status == 401 and proof.renewable and policy.auth is not None:
            self._source(policy.auth).forget(proof.headers[0][1])
            proof = await self._proof(policy)
            answer = await self._repeated(_carrying(request, proof), policy, policy.retry, ends)
        return answer

    async def _proof(self, policy: Policy) -> RequestCredentials:
        async def token(auth: HttpAuth) -> str:
            found = await self._source(auth).token(post)
            policy.secrets.add(found)
            return found

        async def post(url: str, headers: tuple[tuple[str, str], ...], body: bytes) -> HttpResponse:
            ends = time.monotonic() + policy.timeout_ms / 1000
            small = Policy(
                hosts=policy.hosts,
                connect_timeout_ms=policy.connect_timeout_ms,
                max_bytes=TOKEN_BYTES,
                ca_file=policy.ca_file,
            )
            again = policy.retry.model_copy(update={"unsafe": True})
            return await self._repeated(Request("POST", url, headers, body), small, again, ends)

        return await proof_of(policy.auth, token)

    async def _repeated(
        self, request: Request, policy: Policy, retry: HttpRetry, ends: float
    ) -> HttpResponse:
        retrying = Retrying(retry, request.method)
        attempt = 1
        while True:
            answer: HttpResponse | None = None
            try:
                answer = await self._counted(request, policy)
                if not retrying.is_failure(answer):
                    return answer
                failure: ToolFailure | None = None
            except (RequestNotSent, ExchangeBroken) as caught:
                failure = caught
            again = retrying.repeatable or isinstance(failure, RequestNotSent)
            wait = retrying.wait_after(attempt, answer) if again else None
            if wait is None or time.monotonic() + wait >= ends:
                if answer is not None:
                    return answer
                assert failure is not None
                raise failure
            await self._sleep(wait)
            attempt += 1

    async def _counted(self, request: Request, policy: Policy) -> HttpResponse:
        """One attempt, if the circuit breaker allows it; the breaker records the outcome."""
        circuit = self._circuit(request, policy)
        host = urlsplit(request.url).hostname or ""
        with nullcontext() if circuit is None else circuit.passing(host):
            try:
                exchange = await self._exchange(policy)
                answer = await exchange.send(request)
            except (RequestNotSent, ExchangeBroken):
                if circuit is not None:
                    circuit.note(failed=True)
                raise
            if circuit is not None:
                circuit.note(failed=answer.status >= 500)
            return answer

    async def _exchange(self, policy: Policy) -> HttpExchange:
        from ._exchange import HttpExchange

        return HttpExchange(
            await self._pool(policy),
            policy.hosts,
            policy.max_bytes,
            policy.max_redirects,
            policy.connect_timeout_ms / 1000,
        )

    async def _pool(self, policy: Policy) -> httpcore2.AsyncConnectionPool:
        """Connections of the tools that may reach the same hosts: what one may reach is closed to another."""
        from anyio import to_thread

        from ._network import connection_pool, resolve

        place = (policy.hosts.private, policy.ca_file)
        if place not in self._pools:
            resolver = self._resolver or resolve
            tls = await to_thread.run_sync(_tls, policy.ca_file)  # reads files: tens of milliseconds
            self._pools.setdefault(place, connection_pool(policy.hosts, tls, resolver))
        return self._pools[place]

    def _circuit(self, request: Request, policy: Policy) -> Circuit | None:
        config = policy.circuit
        if config is None:
            return None
        parts = urlsplit(request.url)
        place = (host_name(parts.hostname or ""), parts.port) if config.per == "host" else policy.owner
        return self._circuits.setdefault((config, place), Circuit(config))

    def _source(self, auth: HttpAuth) -> TokenSource:
        place = repr(sorted((name, repr(value)) for name, value in auth.model_dump().items()))
        return self._tokens.setdefault(place, TokenSource(auth))


def _carrying(request: Request, proof: RequestCredentials) -> Request:
    """``request`` with what proves who makes it."""
    url = request.url
    if proof.query:
        pairs = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in proof.query)
        url += ("&" if urlsplit(url).query else "?") + pairs
    headers = dict(request.headers)
    for name, value in proof.headers:
        headers = {given: text for given, text in headers.items() if given.lower() != name.lower()}
        headers[name] = value
    for name, value in proof.cookies:
        cookie = f"{name}={quote(value, safe='')}"
        headers["Cookie"] = f"{headers['Cookie']}; {cookie}" if "Cookie" in headers else cookie
    return Request(request.method, url, tuple(headers.items()), request.body)


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    """Certificates are always checked: by the system's authorities, or by those in ``ca_file``."""
    if ca_file is None:
        import httpx2

        return httpx2.create_ssl_context(trust_env=False)
    import ssl

    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except (OSError, ssl.SSLError):
        raise unusable_ca(ca_file.name) from None
