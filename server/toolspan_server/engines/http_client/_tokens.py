"""OAuth 2.0 client credentials (RFC 6749, 4.4): one token at a time, renewed before it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast
from urllib.parse import quote_plus, urlencode

import anyio

from ...errors import ToolFailure
from ._auth import HttpAuth
from ._errors import auth_failed
from ._response import HttpResponse
from ._secrets import basic

TOKEN_BYTES = 65_536
"""Longest answer of a token endpoint."""

_UNTOLD_S = 300.0
_LONGEST_S = 86_400.0
_MARGIN_S = 60.0

Post = Callable[[str, tuple[tuple[str, str], ...], bytes], Awaitable[HttpResponse]]
"""Sends a body to a URL with headers."""


class TokenSource:
    """The tokens of one client. Whoever asks while one is fetched waits for it, and shares its failure."""

    def __init__(self, auth: HttpAuth) -> None:
        self._auth = auth
        self._lock = anyio.Lock()
        self._token = ""
        self._until = 0.0
        self._round = 0
        self._failure: ToolFailure | None = None

    async def token(self, post: Post) -> str:
        """A token that holds for a while yet. Raises ``ToolFailure``."""
        asked_in = self._round
        async with self._lock:
            if self._token and time.monotonic() < self._until:
                return self._token
            if self._round != asked_in and self._failure is not None:
                raise self._failure
            self._failure = None
            try:
                self._token, lifetime = _read(await post(*self._request()))
            except ToolFailure as failure:
                self._failure = failure
                raise
            finally:
                self._round += 1
            self._until = time.monotonic() + lifetime - min(_MARGIN_S, lifetime / 10)
            return self._token

    def forget(self, header: str) -> None:
        """The other side does not take the token in ``header`` any more."""
        if header.removeprefix("Bearer ") == self._token:
            self._token = ""

    def _request(self) -> tuple[str, tuple[tuple[str, str], ...], bytes]:
        auth = self._auth
        form = {"grant_type": "client_credentials", **auth.token_params}
        if auth.scopes:
            form["scope"] = " ".join(auth.scopes)
        if auth.audience is not None:
            form["audience"] = auth.audience
        headers = [("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")]
        client, secret = auth.secret("client_id"), auth.secret("client_secret")
        if auth.client_auth == "post":
            form |= {"client_id": client, "client_secret": secret}
        else:
            headers.append(("Authorization", f"Basic {basic(quote_plus(client), quote_plus(secret))}"))
        return str(auth.token_url), tuple(headers), urlencode(form).encode()


def _read(answer: HttpResponse) -> tuple[str, float]:
    """The token and how many seconds it holds."""
    try:
        parsed = json.loads(answer.text())
    except (ValueError, RecursionError):
        parsed = None
    data = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    token = data.get("access_token")
    if answer.status != 200 or not isinstance(token, str) or not token.isascii() or not token.isprintable():
        error = data.get("error")
        detail = f": {error[:100]}" if isinstance(error, str) else ""
        what = f"HTTP {answer.status}, {answer.media_type or 'no media type'}"
        raise auth_failed(f"The token endpoint at {answer.host} gave no token ({what}){detail}")
    kind = data.get("token_type", "Bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise auth_failed(f"The token endpoint at {answer.host} gave a token of another type than Bearer")
    return token, _lifetime(data.get("expires_in"))


def _lifetime(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return _UNTOLD_S
    return min(max(seconds, 0.0), _LONGEST_S) if seconds == seconds else _UNTOLD_S
