"""One request and its answer, redirects included. Imported with the first request."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import httpcore2

from ._errors import (
    bad_response,
    broken_off,
    redirected,
    unreachable,
    untrusted,
)
from ._hosts import Hosts, host_name, url_problem
from ._request import Request
from ._response import HttpResponse, read_body

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_FOLLOWED = frozenset(("GET", "HEAD"))
_TO_ANYONE = frozenset(("accept", "accept-encoding", "accept-language", "user-agent", "traceparent"))
_PORTS = {"http": 80, "https": 443}
_ASCII = bytes(range(0x21, 0x7F)).decode()


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """Sends requests through ``pool`` to ``hosts``. Every step has ``connect_s`` to connect."""

    pool: httpcore2.AsyncConnectionPool
    hosts: Hosts
    max_bytes: int
    max_redirects: int
    connect_s: float

    async def send(self, request: Request) -> HttpResponse:
        """The answer at the end of the redirects. Raises ``ToolFailure``."""
        answer = await self._once(request)
        left = self.max_redirects
        while answer.status in _REDIRECTS and "location" in answer.headers:
            if request.method not in _FOLLOWED:
                raise redirected(answer.host, f"only GET and HEAD are, not {request.method}")
            if left == 0:
                raise redirected(answer.host, f"max_redirects is {self.max_redirects}")
            left -= 1
            request = self._next(request, answer)
            answer = await self._once(request)
        return answer

    def _next(self, request: Request, answer: HttpResponse) -> Request:
        """The request to where ``answer`` points; what proves who asks goes to the same origin only."""
        location = answer.headers["location"].encode("latin-1", "replace").decode("utf-8", "replace")
        try:
            target = urljoin(request.url, location).partition("#")[0]
            problem = url_problem(target)
        except ValueError:
            target, problem = "", "it leads nowhere"
        if problem is not None:
            raise redirected(answer.host, f"its target {problem}")
        before, after = urlsplit(request.url), urlsplit(target)
        if before.scheme == "https" and after.scheme != "https":
            raise redirected(answer.host, "it leads from https to http")
        if not self.hosts.allows(after.hostname or ""):
            raise redirected(answer.host, f"the host {after.hostname!r} is not in allowed_domains")
        headers = request.headers
        if _origin(before) != _origin(after):
            headers = tuple(pair for pair in headers if pair[0].lower() in _TO_ANYONE)
        return Request(request.method, target, headers, None)

    async def _once(self, request: Request) -> HttpResponse:
        parts = urlsplit(request.url)
        host = host_name(parts.hostname or "")
        try:
            response = await self.pool.handle_async_request(self._written(request, parts, host))
            try:
                headers = _read_headers(response.headers)
                chunks = cast("AsyncIterable[bytes]", response.stream)
                body = await read_body(chunks, headers, self.max_bytes, host)
            finally:
                await response.aclose()
        except httpcore2.PoolTimeout:
            raise unreachable(host, "too many requests to it are open") from None
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            raise _not_connected(host, error) from None
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.RemoteProtocolError) as error:
            raise broken_off(host, _why(error)) from None
        except httpcore2.LocalProtocolError:
            raise bad_response(f"The request to {host} holds what HTTP cannot carry") from None
        return HttpResponse(response.status, headers, body, request.url.partition("?")[0], host)

    def _written(self, request: Request, parts: SplitResult, host: str) -> httpcore2.Request:
        port = parts.port or _PORTS[parts.scheme]
        shown = f"[{host}]" if ":" in host else host
        authority = shown if port == _PORTS[parts.scheme] else f"{shown}:{port}"
        length = [] if request.body is None else [("Content-Length", str(len(request.body)))]
        headers = [("Host", authority), *request.headers, *length]
        target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_ASCII)
        return httpcore2.Request(
            request.method.encode(),
            httpcore2.URL(
                scheme=parts.scheme.encode(), host=host.encode(), port=port, target=target.encode("ascii")
            ),
            headers=[(name.encode(), value.encode()) for name, value in headers],
            content=request.body,
            extensions={"timeout": {"connect": self.connect_s, "pool": self.connect_s}},
        )


def _origin(parts: SplitResult) -> tuple[Any, ...]:
    return parts.scheme, host_name(parts.hostname or ""), parts.port or _PORTS[parts.scheme]


def _read_headers(raw: Any) -> dict[str, str]:
    """The headers by their names in lower case; of several the values are joined."""
    headers: dict[str, str] = {}
    for name, value in raw:
        lower, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[lower] = f"{headers[lower]}, {text}" if lower in headers else text
    return headers


def _not_connected(host: str, error: BaseException) -> Exception:
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, ssl.SSLCertVerificationError):
            return untrusted(host, found.verify_message or "its certificate is not valid")
        if isinstance(found, ssl.SSLError):
            return unreachable(host, "it does not speak TLS as it should")
        found = found.__cause__ or found.__context__
    return unreachable(host, "it took too long or broke off")


def _why(error: BaseException) -> str:
    if isinstance(error, httpcore2.RemoteProtocolError):
        return "it ended too early, or is not HTTP"
    return "the connection was lost"
