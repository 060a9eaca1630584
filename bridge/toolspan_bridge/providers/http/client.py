"""One pooled HTTP client per provider: deadlines, retries, a size cap, and errors that name the address."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import urlsplit
from urllib.request import getproxies

import anyio
import httpx2

from toolspan_server.common.no_cookies import NoCookies

from ...errors import (
    BridgeError,
    ProviderError,
    UnreachableError,
    UsageError,
)
from ...formats import WireError
from ...messages.metering import Meter
from .direct import DirectTransport
from .rate_limits import BUSY, RateLimiter
from .retry import Attempts
from .settings import HttpSettings
from .shown_exchange import ShownExchange, shown_exchange, told
from .streams import ResponseStream

ReadError = Callable[[int, Mapping[str, str], bytes], WireError]
"""A format's ``parse_error``."""
Headers = Callable[[str, bytes], Awaitable[Mapping[str, str]]]
"""The headers for a URL and a body, created for each attempt: signatures expire."""

_IDLE_S = 30.0
_DOCUMENTS = {"application/json", "text/html", "application/xhtml+xml"}
_LOST = (
    httpx2.NetworkError,
    httpx2.RemoteProtocolError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The last response, the number of the attempt that it answers, and the seconds that the provider asks to
    wait before another.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    attempts: int = 1
    asked: float | None = None


class _Again(Exception):
    """An attempt failed, but another may succeed. ``outcome`` is used if there is no other."""

    def __init__(self, reason: str, outcome: HttpResponse | BridgeError) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.asked = outcome.asked or 0.0 if isinstance(outcome, HttpResponse) else 0.0
        self.was_busy = isinstance(outcome, HttpResponse) and outcome.status in BUSY


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, for each of its attempts."""

    method: str
    url: str
    body: bytes
    headers: Headers
    read_error: ReadError
    once: bool
    max_bytes: int


class HttpClient:
    """Posts JSON to one provider. ``hint`` is what to check when nothing answers; ``redact`` takes the
    provider's secrets out of what is told of the wire. ``limiter`` admits each request."""

    def __init__(
        self,
        provider: str,
        base: str,
        settings: HttpSettings,
        hint: str,
        redact: Callable[[str], str] = str,
        limiter: RateLimiter | None = None,
    ) -> None:
        self._provider = provider
        self._limiter = limiter
        self._base = base
        self._settings = settings
        self._hint = hint
        self._redact = redact
        self._client = _pool(base, settings)

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Headers,
        read_error: ReadError,
        attempts: Attempts | None = None,
    ) -> HttpResponse:
        """The last answer to ``body``, with any status; ``attempts`` are those that are left for it.

        Raises ``UnreachableError`` when there is none, ``ProviderError`` when it is too large or not HTTP.
        """
        return await self.send("POST", url, body, headers, read_error, attempts=attempts)

    async def get(self, url: str, headers: Headers, read_error: ReadError) -> HttpResponse:
        """The last answer to a GET of ``url``. Raises as ``post``."""
        return await self.send("GET", url, b"", headers, read_error)

    async def send(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Headers,
        read_error: ReadError,
        *,
        once: bool = False,
        max_bytes: int = 0,
        attempts: Attempts | None = None,
    ) -> HttpResponse:
        """As ``post``, with any method. ``once``: the request is not repeated where it may have been carried
        out, but only where the provider was too busy for it. ``max_bytes`` replaces the setting.
        """
        asked = _Asked(method, url, body, headers, read_error, once, max_bytes or self._settings.max_bytes)
        try:
            return await self._attempts(asked, attempts or self.attempts())
        except TimeoutError:
            raise self.unreachable(f"no answer within {self._settings.total:g} s", timed_out=True) from None

    async def open(
        self, url: str, body: bytes, headers: Headers, read_error: ReadError, attempts: Attempts
    ) -> HttpResponse | ResponseStream:
        """The answer to ``body``, open for reading from its first byte on; an ``HttpResponse`` when it is an
        error, or JSON or HTML instead of a stream. There are no retries after the first byte.

        Raises as ``post``.
        """
        while True:
            await attempts.admit()
            signed = await headers(url, body)
            await attempts.sends(body)
            try:
                opened = await self._open(url, body, signed, read_error, attempts)
            except _Again as again:
                _tell_free(again.outcome, attempts)
                if not await attempts.again(str(again), again.asked, busy=again.was_busy):
                    return _final(again.outcome)
            except BridgeError as failure:
                _tell_free(failure, attempts)
                raise
            else:
                _tell_free(opened, attempts)
                await attempts.answered()
                return opened

    def attempts(self, meter: Meter | None = None, most_output: int | None = None) -> Attempts:
        """The attempts of one request, followed by ``meter``."""
        settings = self._settings
        times = settings.retry, settings.total, settings.sleep, settings.dice
        return Attempts(self._provider, *times, self._limiter, meter, most_output)

    async def aclose(self) -> None:
        """Close the pool."""
        await self._client.aclose()

    async def _attempts(self, asked: _Asked, attempts: Attempts) -> HttpResponse:
        while True:
            await attempts.admit()
            try:
                with anyio.fail_after(attempts.left):
                    answer = await self._attempt(asked, attempts)
            except _Again as again:
                _tell_free(again.outcome, attempts)
                settled = asked.once and not again.was_busy
                if settled or not await attempts.again(str(again), again.asked, busy=again.was_busy):
                    return _final(again.outcome)
            except BridgeError as failure:
                _tell_free(failure, attempts)
                raise
            else:
                _tell_free(answer, attempts)
                await attempts.answered()
                return answer

    async def _attempt(self, asked: _Asked, attempts: Attempts) -> HttpResponse:
        number = attempts.number
        headers = await asked.headers(asked.url, asked.body)
        await attempts.sends(asked.body)
        shown = self._shown(asked.method, asked.url, asked.body, headers, number)
        try:
            with told(shown):
                async with self._client.stream(
                    asked.method, _parsed(asked.url), content=asked.body, headers=headers
                ) as response:
                    content = await self._content(response, asked.max_bytes, shown)
        except httpx2.HTTPError as lost:
            raise self._lost(lost) from None
        return _sound(HttpResponse(response.status_code, response.headers, content, number), asked.read_error)

    async def _open(
        self, url: str, body: bytes, headers: Mapping[str, str], read_error: ReadError, attempts: Attempts
    ) -> HttpResponse | ResponseStream:
        request = self._client.build_request("POST", _parsed(url), content=body, headers=headers)
        shown = self._shown("POST", url, body, headers, attempts.number)
        try:
            with told(shown), anyio.fail_after(attempts.left):
                response = await self._client.send(request, stream=True)
        except httpx2.HTTPError as lost:
            raise self._lost(lost) from None
        except TimeoutError:
            raise self.unreachable(f"no answer within {self._settings.total:g} s", timed_out=True) from None
        async with AsyncExitStack() as kept:
            stream = ResponseStream(response, self, self._settings, attempts, shown)
            kept.push_async_callback(stream.aclose)
            try:
                await stream.begin()
            except httpx2.HTTPError as lost:
                raise self._lost(lost) from None
            if response.status_code < 300 and not _is_whole(response.headers):
                kept.pop_all()
                return stream
            answer = HttpResponse(
                response.status_code, response.headers, await stream.rest(), attempts.number
            )
            return _sound(answer, read_error)

    def _shown(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str], attempt: int
    ) -> ShownExchange | None:
        """The request, told where somebody watches the wire."""
        shown = shown_exchange(self._provider, self._redact)
        if shown is not None:
            shown.sent(method, url, body, headers, attempt)
        return shown

    async def _content(self, response: httpx2.Response, max_bytes: int, shown: ShownExchange | None) -> bytes:
        content = bytearray()
        if shown is not None:
            shown.answered(response.status_code, response.headers)
        async for chunk in response.aiter_bytes():
            content += chunk
            if shown is not None and chunk:
                shown.received(chunk)
            if len(content) > max_bytes:
                raise self.too_large(max_bytes)
        if shown is not None:
            shown.received(b"")
        return bytes(content)

    def too_large(self, max_bytes: int = 0) -> ProviderError:
        """The error for an answer over the limit."""
        most = f"{max_bytes or self._settings.max_bytes:,}"
        return ProviderError(
            f"{self._provider} at {self._base} sent more than {most} bytes: the answer was dropped"
        )

    def _lost(self, lost: httpx2.HTTPError) -> Exception:
        failure = self.failure(lost)
        again = isinstance(lost, _LOST) and not _is_certificate(lost)
        return _Again(str(failure), failure) if again else failure

    def failure(self, error: httpx2.HTTPError) -> BridgeError:
        """The user's error for an error of the HTTP library: its own text only if that contains no key."""
        if _is_certificate(error):
            return self.unreachable(
                "its certificate is not trusted; set SSL_CERT_FILE if a private authority issued it",
                was_sent=False,
            )
        match error:
            case httpx2.ReadTimeout() | httpx2.WriteTimeout():
                return self.unreachable(f"no answer within {self._settings.read:g} s", timed_out=True)
            case httpx2.TimeoutException():
                return self.unreachable(f"no connection within {self._settings.connect:g} s", was_sent=False)
            case (
                httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError() | httpx2.CloseError()
            ):
                return self.unreachable("the connection broke before the answer was complete")
            case httpx2.ConnectError() | httpx2.ProxyError():
                return self.unreachable(str(error) or "no connection", was_sent=False)
            case _:
                return ProviderError(f"{self._provider} at {self._base} sent what is no HTTP: {self._hint}")

    def unreachable(self, reason: str, *, was_sent: bool = True, timed_out: bool = False) -> UnreachableError:
        """The error for a missing answer, with the reason."""
        told = f"{self._provider} cannot be reached at {self._base}: {reason} ({self._hint})"
        return UnreachableError(told, was_sent=was_sent, timed_out=timed_out)


@lru_cache(maxsize=64)
def _parsed(url: str) -> httpx2.URL:
    return httpx2.URL(url)


def _sound(answer: HttpResponse, read_error: ReadError) -> HttpResponse:
    """``answer``, unless another attempt may have a better one."""
    if answer.status >= 400:
        error = read_error(answer.status, answer.headers, answer.content)
        if error.retryable:
            raise _Again(f"answered {answer.status}", replace(answer, asked=error.retry_after))
    return answer


def _is_whole(headers: Mapping[str, str]) -> bool:
    """Whether the body is one document, as gateways and servers without streams send it."""
    return headers.get("content-type", "").split(";")[0].strip().lower() in _DOCUMENTS


def _tell_free(outcome: HttpResponse | ResponseStream | BridgeError, attempts: Attempts) -> None:
    """Tell the meter of an attempt that the provider refused, or that did not reach it."""
    match outcome:
        case HttpResponse(status=status):
            is_free = status >= 300
        case UnreachableError(was_sent=was_sent):
            is_free = not was_sent
        case _:
            is_free = False
    if is_free:
        attempts.cost_nothing()


def _final(outcome: HttpResponse | BridgeError) -> HttpResponse:
    if isinstance(outcome, BridgeError):
        raise outcome
    return outcome


def _pool(base: str, settings: HttpSettings) -> httpx2.AsyncClient:
    """Straight to ``base``; where the environment has proxies, as ``httpx2`` goes through them."""
    parts = urlsplit(base)
    try:
        # Plain http needs no certificates: reading them costs tens of milliseconds at each start.
        tls = httpx2.create_ssl_context() if parts.scheme == "https" else None
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"SSL_CERT_FILE holds no certificates that can be read: {error}") from None
    timeout = httpx2.Timeout(settings.read, connect=settings.connect, pool=settings.connect)
    if _is_loopback(parts.hostname or "") or not getproxies():  # no proxy reaches this machine's own address
        direct = DirectTransport(tls, settings.connections, settings.idle_connections, _IDLE_S)
        return httpx2.AsyncClient(transport=direct, timeout=timeout, cookies=NoCookies())
    return httpx2.AsyncClient(
        verify=tls or False,
        timeout=timeout,
        cookies=NoCookies(),
        limits=httpx2.Limits(
            max_connections=settings.connections,
            max_keepalive_connections=settings.idle_connections,
            keepalive_expiry=_IDLE_S,
        ),
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
