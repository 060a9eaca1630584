"""Access tokens that are JSON Web Tokens (RFC 7519, RFC 9068, RFC 8725), checked with PyJWT."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any, cast

import anyio.to_thread

from ...config.models.auth import OAuthConfig
from ._key_strength import suits
from ._keys import Key, Keys
from ._principal import Principal, TokenRejected, with_implied

_MOST_BYTES = 16_384
_MOST_TRIED = 4
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt", "application/jwt"})


class Issuer:
    """Checks the tokens of one authorization server."""

    def __init__(self, config: OAuthConfig, keys: Keys, implies: Mapping[str, tuple[str, ...]]) -> None:
        self._config = config
        self._keys = keys
        self._implies = implies
        self._required = frozenset(config.required_scopes)

    @property
    def required(self) -> frozenset[str]:
        """The scopes that each of its tokens must have."""
        return self._required

    async def principal(self, token: bytes) -> Principal:
        """The principal of ``token``. Raises ``TokenRejected`` and ``KeysUnavailable``."""
        header = _header(token)
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in self._config.algorithms:
            raise TokenRejected("its signature is of a kind that is not accepted")
        kind = header.get("typ", "JWT")
        if "crit" in header or not isinstance(kind, str) or kind.lower() not in _TYPES:
            raise TokenRejected("it is of a kind that is not accepted")
        key_id = header.get("kid")
        if key_id is not None and not isinstance(key_id, str):
            raise TokenRejected("it names no key")
        keys = [key for key in await self._keys.find(key_id) if suits(key, algorithm)]
        await anyio.to_thread.run_sync(__import__, "jwt")
        return self._principal(self._claims(token, algorithm, keys))

    def _claims(self, token: bytes, algorithm: str, keys: list[Key]) -> dict[str, Any]:
        """The claims, once one of ``keys`` is found to have signed them and they hold now and here."""
        import jwt

        for key in keys[:_MOST_TRIED]:
            try:
                return jwt.decode(
                    token,
                    jwt.PyJWK.from_dict(dict(key), algorithm),
                    algorithms=[algorithm],
                    audience=list(self._config.audience),
                    issuer=self._config.issuer,
                    leeway=self._config.leeway_seconds,
                    options={"require": ["exp", "iss", "aud"]},
                )
            except (jwt.InvalidSignatureError, jwt.PyJWKError, jwt.InvalidKeyError):
                continue
            except jwt.InvalidTokenError as fault:
                raise TokenRejected(_reason(fault)) from None
            except (ValueError, TypeError, OverflowError, RecursionError):  # claims beyond what PyJWT expects
                raise TokenRejected("it is no good JSON Web Token") from None
        raise TokenRejected("no key of the issuer has signed it")

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        subject = next((claims[name] for name in ("sub", "client_id", "azp") if claims.get(name)), None)
        if not isinstance(subject, str) or len(subject) > 1_000:
            raise TokenRejected("it names no subject ('sub')")
        identity = json.dumps(["oauth", self._config.issuer, subject]).encode()
        now = time.time()
        ends = int(claims["exp"]) + self._config.leeway_seconds
        if ends <= now:
            raise TokenRejected("it has expired")
        # Not for as long as the token: a key that the issuer takes back ends what it has signed.
        until = float(min(ends, now + self._config.refresh_seconds))
        return Principal(identity, with_implied(_scopes(claims), self._implies), until)


def _header(token: bytes) -> dict[str, Any]:
    if len(token) > _MOST_BYTES or token.count(b".") != 2:
        raise TokenRejected("it is no JSON Web Token")
    first = token.partition(b".")[0]
    try:
        header: Any = json.loads(urlsafe_b64decode(first + b"=" * (-len(first) % 4)))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise TokenRejected("it is no JSON Web Token")
    return cast("dict[str, Any]", header)


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """``scope`` (RFC 8693), or ``scp`` as others call it: a text with spaces between, or a list."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value: Any = claims.get(name, ())
        parts: Any = value.split() if isinstance(value, str) else value
        if isinstance(parts, list | tuple):
            found.update(each for each in cast("list[Any]", parts) if isinstance(each, str))
    return frozenset(found)


def _reason(fault: Exception) -> str:
    reasons = {
        "ExpiredSignatureError": "it has expired",
        "ImmatureSignatureError": "it is not valid yet",
        "InvalidAudienceError": "it is for another server ('aud')",
        "InvalidIssuerError": "it is of another issuer ('iss')",
        "MissingRequiredClaimError": "it lacks 'exp', 'iss' or 'aud'",
    }
    return reasons.get(type(fault).__name__, "it is no good JSON Web Token")
