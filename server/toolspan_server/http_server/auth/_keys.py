"""The public keys of an authorization server: found, fetched, kept, and fetched again in time."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import anyio

from ...config.models.auth import OAuthConfig
from ._fetch import fetched
from ._key_strength import weakness
from ._principal import KeysUnavailable

_log = logging.getLogger(__name__)
_LEAST_BETWEEN_S = 10.0
_MOST_STALE = 6
_MOST_KEYS = 100

Key = Mapping[str, Any]
"""A JSON Web Key (RFC 7517)."""


class Keys:
    """The keys of ``config``'s issuer.

    They are fetched when first needed, when they are ``refresh_seconds`` old, and when a token names one
    that is not among them; between two tries are ten seconds at least, whoever asks. When fetching
    fails, the keys that are there are used until they are six times as old as that, and none after.
    """

    def __init__(
        self,
        config: OAuthConfig,
        fetch: Callable[[str], Awaitable[dict[str, Any]]] = fetched,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._fetch = fetch
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._url = config.jwks_url
        self._fetched = self._tried = -float("inf")
        self._trouble = "they have not been fetched yet"
        self._fetching = anyio.Lock()

    async def find(self, key_id: str | None) -> list[Key]:
        """The keys that may have signed a token that names ``key_id``. Raises ``KeysUnavailable``."""
        found = self._named(key_id)
        if not found or self._age > self._config.refresh_seconds:
            async with self._fetching:
                if self._clock() - self._tried >= _LEAST_BETWEEN_S:
                    await self._refresh()
            found = self._named(key_id)
        if self._age > _MOST_STALE * self._config.refresh_seconds:
            raise KeysUnavailable(self._trouble)
        return found

    @property
    def _age(self) -> float:
        return self._clock() - self._fetched

    def _named(self, key_id: str | None) -> list[Key]:
        return [key for key in self._keys if key_id is None or key.get("kid") == key_id]

    async def _refresh(self) -> None:
        self._tried = self._clock()
        try:
            if self._url is None:
                self._url = await self._discovered()
            self._keys = _signing_keys(await self._fetch(self._url), self._url)
        except KeysUnavailable as fault:
            self._trouble = str(fault)
            _log.warning("the keys of %s cannot be fetched: %s", self._config.issuer, fault)
        else:
            self._fetched = self._clock()

    async def _discovered(self) -> str:
        """Where the issuer's metadata says that its keys are (RFC 8414, OpenID Connect Discovery)."""
        issuer, faults = self._config.issuer, list[str]()
        for url in _metadata_urls(issuer):
            try:
                metadata = await self._fetch(url)
            except KeysUnavailable as fault:
                faults.append(str(fault))
                continue
            place = metadata.get("jwks_uri")
            if metadata.get("issuer") != issuer:
                faults.append(f"{url} is the metadata of another issuer")
            elif not isinstance(place, str) or not _as_safe(place, issuer):
                faults.append(f"{url} names no https URL of keys")
            else:
                return place
        raise KeysUnavailable("; ".join(faults))


def _metadata_urls(issuer: str) -> Iterator[str]:
    """MCP 2026-07-28, basic/authorization/authorization-server-discovery, in its order."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{origin}/.well-known/oauth-authorization-server{path}"
    yield f"{origin}/.well-known/openid-configuration{path}"
    if path:
        yield f"{origin}{path}/.well-known/openid-configuration"


def _as_safe(url: str, issuer: str) -> bool:
    """Whether ``url`` is https, or, where the issuer is not, at the same host."""
    try:
        found, expected = urlsplit(url), urlsplit(issuer)
    except ValueError:
        return False
    if found.scheme == "https":
        return bool(found.hostname)
    return found.scheme == expected.scheme and found.netloc == expected.netloc


def _signing_keys(document: Mapping[str, Any], url: str) -> tuple[Key, ...]:
    keys: Any = document.get("keys")
    if not isinstance(keys, list):
        raise KeysUnavailable(f"{url} holds no 'keys'")
    listed: list[Any] = keys[:_MOST_KEYS]  # pyright: ignore[reportUnknownVariableType]  # of anything
    taken: list[Key] = []
    left: Counter[str] = Counter()
    for key in listed:
        reason = weakness(cast("Key", key)) if isinstance(key, dict) else "it is no key"
        if reason is None:
            taken.append(cast("Key", key))
        else:
            left[reason] += 1
    for reason, count in left.items():
        _log.warning("of the keys at %s, %d are not used: %s", url, count, reason)
    return tuple(taken)
