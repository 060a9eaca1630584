"""Tokens of an upstream for each principal, by token exchange (RFC 8693): the client's never goes there."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
from typing_extensions import override

from ...engines.upstreams import refuse

if TYPE_CHECKING:
    from ...schema.token_exchange import TokenExchangeConfig

_GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
_SECONDS = 10.0
_MOST_BYTES = 65_536
_UNTOLD_S = 300.0
_LONGEST_S = 86_400.0
_MARGIN_S = 30.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ExchangedToken(httpx2.Auth):
    """Authorizes requests to ``upstream`` with the token that ``config`` gives for ``subject``.

    That is the principal's own token, which goes to the token endpoint alone. What it is exchanged for is
    kept in memory until it ends.
    """

    def __init__(self, upstream: str, config: TokenExchangeConfig) -> None:
        self.subject = ""
        self._upstream = upstream
        self._config = config
        self._lock = anyio.Lock()
        self._token = ""
        self._of = b""
        self._until = 0.0

    @override
    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send ``request`` with the token, and once more with another one where that is refused."""
        used = await self._current()
        request.headers["Authorization"] = f"Bearer {used}"
        response = yield request
        if response.status_code == 401:
            if self._token == used:
                self._token = ""
            request.headers["Authorization"] = f"Bearer {await self._current()}"
            response = yield request
            if response.status_code == 401:
                refuse(f"the server {self._upstream!r} refuses the token that was exchanged for the caller's")

    async def _current(self) -> str:
        async with self._lock:
            of = hashlib.sha256(self.subject.encode()).digest()
            if not self._token or self._of != of or time.monotonic() >= self._until:
                self._token, lifetime = await self._exchanged()
                self._of, self._until = of, time.monotonic() + lifetime - min(_MARGIN_S, lifetime / 10)
            return self._token

    async def _exchanged(self) -> tuple[str, float]:
        """A token, and how many seconds it holds. Raises ``httpx2.TransportError``, and says why."""
        config = self._config
        form = {
            "grant_type": _GRANT,
            "subject_token": self.subject,
            "subject_token_type": _ACCESS_TOKEN,
            "requested_token_type": _ACCESS_TOKEN,
            **({"audience": config.audience} if config.audience else {}),
            **({"resource": config.resource} if config.resource else {}),
            **({"scope": " ".join(config.scopes)} if config.scopes else {}),
        }
        trust = httpx2.URL(config.token_url).host not in _LOOPBACK
        try:
            async with (
                httpx2.AsyncClient(timeout=_SECONDS, trust_env=trust) as client,
                client.stream(
                    "POST", config.token_url, data=form, auth=(config.client_id, config.client_secret or "")
                ) as answer,
            ):
                body = b""
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > _MOST_BYTES:
                        raise self._refused(f"its answer is longer than {_MOST_BYTES} bytes")
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise self._refused(f"{type(error).__name__}") from None
        return self._read(answer.status_code, body)

    def _read(self, status: int, body: bytes) -> tuple[str, float]:
        try:
            parsed: Any = json.loads(body)
        except (ValueError, RecursionError):
            parsed = None
        data = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
        token = data.get("access_token")
        if status != 200 or not isinstance(token, str) or not token.isascii() or not token.isprintable():
            error = data.get("error")
            raise self._refused(f"HTTP {status}" + (f", {error[:100]}" if isinstance(error, str) else ""))
        if token == self.subject:
            raise self._refused("it gave back the caller's own token, which is never passed on")
        lifetime = data.get("expires_in")
        if not isinstance(lifetime, int | float) or isinstance(lifetime, bool):
            return token, _UNTOLD_S
        return token, min(max(float(lifetime), 0.0), _LONGEST_S)

    def _refused(self, why: str) -> httpx2.TransportError:
        host = httpx2.URL(self._config.token_url).host
        reason = f"the token endpoint at {host} exchanged the caller's token for none: {why}"
        refuse(reason)
        return httpx2.ConnectError(reason)
