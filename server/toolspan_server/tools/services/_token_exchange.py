"""Tokens of an upstream for each principal, by token exchange (RFC 8693): the client's never goes there."""

from __future__ import annotations

import hashlib
import json
import math
import re
import ssl
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
import httpx2
from typing_extensions import override

from ...common.no_cookies import NoCookies
from ...engines.upstreams import refuse

if TYPE_CHECKING:
    from ...schema.token_exchange import TokenExchangeConfig

MOST_TOKENS = 8
"""Tokens that one principal may have at an upstream at the same time, each for another one of its own."""

_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
_SECONDS = 10.0
_MOST_BYTES = 65_536
_UNTOLD_S = 300.0
_LONGEST_S = 86_400.0
_MARGIN_S = 30.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_USABLE = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)


class TokenEndpoint:
    """The token endpoint of ``config``, where tokens for ``upstream`` are got within ``seconds``."""

    def __init__(self, upstream: str, config: TokenExchangeConfig, seconds: float = _SECONDS) -> None:
        self.upstream = upstream
        self._config = config
        self._seconds = seconds
        url = httpx2.URL(config.token_url)
        self._host = url.host
        self._is_https = url.scheme == "https"
        self._tls: ssl.SSLContext | None = None

    async def exchanged(self, subject: str) -> tuple[str, float]:
        """What ``subject`` is exchanged for, and how many seconds it holds.

        Raises ``httpx2.ConnectError``, and tells the attempt why.
        """
        try:
            with anyio.fail_after(self._seconds):
                status, body = await self._posted(subject)
        except TimeoutError:
            raise self._refused(f"no answer within {self._seconds:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._refused(type(error).__name__) from None
        if len(body) > _MOST_BYTES:
            raise self._refused(f"its answer is longer than {_MOST_BYTES:,} bytes")
        return self._read(status, body, subject)

    async def _posted(self, subject: str) -> tuple[int, bytes]:
        """The answer's status and body; of one that is too long, the beginning."""
        config = self._config
        form = {
            "grant_type": _GRANT,
            "subject_token": subject,
            "subject_token_type": _ACCESS_TOKEN,
            "requested_token_type": _ACCESS_TOKEN,
            **({"audience": config.audience} if config.audience else {}),
            **({"resource": config.resource} if config.resource else {}),
            **({"scope": " ".join(config.scopes)} if config.scopes else {}),
        }
        who = (config.client_id, config.client_secret or "")
        plain = {"Accept": "application/json", "Accept-Encoding": "identity"}
        async with (
            await self._client() as client,
            client.stream("POST", config.token_url, data=form, headers=plain, auth=who) as answer,
        ):
            body = bytearray()
            async for chunk in answer.aiter_raw():
                body += chunk
                if len(body) > _MOST_BYTES:
                    break
            return answer.status_code, bytes(body)

    async def _client(self) -> httpx2.AsyncClient:
        """A client without cookies of other principals. Its certificates are read once, in a thread."""
        trust = self._host not in _LOOPBACK
        if self._is_https and self._tls is None:
            self._tls = await anyio.to_thread.run_sync(lambda: httpx2.create_ssl_context(trust_env=trust))
        return httpx2.AsyncClient(
            timeout=self._seconds, trust_env=trust, verify=self._tls or False, cookies=NoCookies()
        )

    def _read(self, status: int, body: bytes, subject: str) -> tuple[str, float]:
        try:
            parsed: Any = json.loads(body)
        except (ValueError, RecursionError):
            parsed = None
        data = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
        token, kind = data.get("access_token"), data.get("token_type", "Bearer")
        if status != 200:
            error = data.get("error")
            raise self._refused(f"HTTP {status}" + (f", {error[:100]!r}" if isinstance(error, str) else ""))
        if not isinstance(token, str) or not _USABLE.fullmatch(token):
            raise self._refused("its answer has no access_token that can be sent")
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise self._refused("its token is no bearer token")
        if token == subject:
            raise self._refused("it gave back the caller's own token, which is never passed on")
        return token, _lifetime(data.get("expires_in"))

    def _refused(self, why: str) -> httpx2.ConnectError:
        reason = f"the token endpoint at {self._host} exchanged the caller's token for none: {why}"
        refuse(reason)
        return httpx2.ConnectError(reason)


_of_task: ContextVar[tuple[ExchangedToken, str] | None] = ContextVar("toolspan_exchanged", default=None)
"""The bearer token that the current task's requests are made with, and what exchanges it: a request of
another principal's connection does not see it."""


class ExchangedToken(httpx2.Auth):
    """Authorizes requests with what ``endpoint`` gives for the token that the caller of each came with.

    Requests that serve no call take the principal's own token of its last call. It goes to the token endpoint
    alone. What tokens are exchanged for is kept in memory until it ends.
    """

    def __init__(self, endpoint: TokenEndpoint) -> None:
        self._subject = ""
        self._endpoint = endpoint
        self._lock = anyio.Lock()
        self._known: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def use(self, bearer: str) -> None:
        """Exchange ``bearer`` for the requests that the current task makes from now on."""
        self._subject = bearer
        _of_task.set((self, bearer))

    @override
    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send ``request`` with the token, and once more with another one where that is refused."""
        of_task = _of_task.get()
        subject = self._subject if of_task is None or of_task[0] is not self else of_task[1]
        used = await self._current(subject)
        request.headers["Authorization"] = f"Bearer {used}"
        response = yield request
        if response.status_code == 401:
            another = await self._current(subject, instead_of=used)
            request.headers["Authorization"] = f"Bearer {another}"
            response = yield request
            if response.status_code == 401:
                name = self._endpoint.upstream
                refuse(f"the server {name!r} refuses the token that was exchanged for the caller's")

    async def _current(self, subject: str, *, instead_of: str = "") -> str:
        of = hashlib.sha256(subject.encode()).digest()
        async with self._lock:
            token, until = self._known.get(of, ("", 0.0))
            if token == instead_of or time.monotonic() >= until:
                self._known.pop(of, None)
                token, lifetime = await self._endpoint.exchanged(subject)
                until = time.monotonic() + lifetime - min(_MARGIN_S, lifetime / 10)
                self._known[of] = token, until
                if len(self._known) > MOST_TOKENS:
                    self._known.popitem(last=False)
            return token


def _lifetime(told: Any) -> float:
    """Seconds, of what an answer says in ``expires_in``."""
    if isinstance(told, bool) or not isinstance(told, int | float) or math.isnan(min(told, _LONGEST_S)):
        return _UNTOLD_S
    return float(max(min(told, _LONGEST_S), 0.0))
