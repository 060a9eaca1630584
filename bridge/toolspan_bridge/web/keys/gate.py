"""Virtual keys where tokens are checked: what the guard asks about each request of the app."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolspan_server.http_server.asgi import RefusedResponse
from toolspan_server.http_server.auth import PRINCIPAL, UNVERIFIED

from ...errors import StoreError
from .refusals import KeyRefusal

if TYPE_CHECKING:
    from toolspan_server.http_server.asgi import App, Scope
    from toolspan_server.http_server.auth import Authenticator

    from .admission import VirtualKeys
    from .virtual_key import VirtualKey

__all__ = ["KEY", "KeyGate", "key_of"]

_log = logging.getLogger(__name__)

KEY = "toolspan.key"
"""The key of an ASGI scope that holds the ``VirtualKey`` of its request."""
_PREFIX = b"sk-toolspan-"
_UNDER = "/v1/"
_CHALLENGE = ((b"www-authenticate", b"Bearer"),)
_NEEDED = RefusedResponse(
    401, "A virtual key is needed: toolspan keys create makes one, which is sent as the API key", _CHALLENGE
)
_ELSEWHERE = RefusedResponse(403, "A virtual key is good for the gateway alone, at /v1")
_UNREADABLE = RefusedResponse(
    503, "Keys cannot be checked now: see the server's log", ((b"retry-after", b"10"),)
)


def key_of(scope: Scope) -> VirtualKey | None:
    """The virtual key that the request was let in with, if one was."""
    found: VirtualKey | None = scope.get(KEY)
    return found


class KeyGate:
    """Lets requests of the gateway in with a virtual key, and decides about others as ``inner`` does, or lets
    all in where there is none. With ``required`` nobody gets to the gateway without a key or a token;
    ``public`` paths need neither.

    Each request's key is looked up: one that was revoked is refused at once. Its principal is ``key ID``.
    """

    def __init__(
        self,
        keys: Callable[[], VirtualKeys],
        inner: Authenticator | None,
        public: tuple[str, ...] = (),
        *,
        required: bool,
    ) -> None:
        self._keys = keys
        self._inner = inner
        self._open = frozenset(path for path in public if path == "/" or not path.endswith("/"))
        self._open_under = tuple(path for path in public if path not in self._open)
        self._required = required

    @property
    def public(self) -> Mapping[str, App]:
        """The paths that have answers of their own."""
        return {} if self._inner is None else self._inner.public

    def refusal(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """As ``Authenticator.refusal``."""
        authorization = authorization or _sent(scope)
        path: str = scope["path"]
        of_gateway = path.startswith(_UNDER)
        if _secret(authorization) is not None:
            if of_gateway:
                return None if KEY in scope else UNVERIFIED
            return None if path in self._open or path.startswith(self._open_under) else _ELSEWHERE
        if self._inner is not None:
            return self._inner.refusal(scope, authorization)
        return _NEEDED if self._required and of_gateway else None

    async def verify(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """As ``Authenticator.verify``."""
        secret = _secret(authorization)
        if secret is None:
            assert self._inner is not None
            return await self._inner.verify(scope, authorization)
        try:
            key = await self._keys().authenticate(secret.decode("latin-1"))
        except KeyRefusal as error:
            return RefusedResponse(error.status, error.message, _CHALLENGE)
        except StoreError as error:
            _log.error("keys cannot be checked: %s", error.message)
            return _UNREADABLE
        scope[KEY] = key
        scope[PRINCIPAL] = f"key {key.id}".encode()
        return None


def _sent(scope: Scope) -> bytes:
    """What the request is authorised by: the app may have found it in another header than the guard's."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    return headers.get(b"authorization", b"")


def _secret(authorization: bytes) -> bytes | None:
    """The virtual key, if it is one."""
    scheme, _, value = authorization.partition(b" ")
    value = value.strip()
    return value if scheme.lower() == b"bearer" and value.startswith(_PREFIX) else None
