"""Whether a request's token is good, and good for what it asks."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from ..asgi import App, RefusedResponse, Scope
from ._challenge import Challenges
from ._jwt import Issuer
from ._principal import (
    PRINCIPAL,
    KeysUnavailable,
    Principal,
    TokenRejected,
)
from ._tokens import Digests, hashed

_log = logging.getLogger(__name__)
_MOST_VERIFIED = 4_096
_OPEN = frozenset({"/healthz"})
_STATUS = frozenset({"/readyz", "/metrics"})
_NOBODY: frozenset[str] = frozenset()
_NO_KEYS = RefusedResponse(
    503, "Tokens cannot be checked now: the issuer's keys are not there", ((b"retry-after", b"10"),)
)

UNVERIFIED = RefusedResponse(401, "The bearer token is not good", ((b"www-authenticate", b"Bearer"),))
"""What ``Auth.refusal`` gives for a token that ``Auth.verify`` has to look at first."""


class Authenticator(Protocol):
    """What the guard asks about the token of each request: ``Auth``, or what stands before it."""

    @property
    def public(self) -> Mapping[str, App]:
        """The paths that have answers of their own."""
        ...

    def refusal(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """As ``Auth.refusal``."""
        ...

    async def verify(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """As ``Auth.verify``."""
        ...


class Auth:
    """The tokens of a config.

    ``needs`` are the scopes that each path needs; a path that is not among them, and is neither a status
    route nor public, needs them all. A token of ``issuer`` that was found good is not verified again before
    it ends, or the issuer's keys are to be fetched again.
    """

    def __init__(
        self,
        static: Digests,
        needs: Mapping[str, frozenset[str]] | None = None,
        issuer: Issuer | None = None,
        challenges: Challenges | None = None,
        clock: Callable[[], float] = time.time,
        public: Iterable[str] = (),
    ) -> None:
        self._static = static
        self._needs = {} if needs is None else dict(needs)
        self._all = frozenset[str]().union(*self._needs.values())
        self._issuer = issuer
        self._challenges = Challenges(self._needs) if challenges is None else challenges
        self._clock = clock
        self._verified: OrderedDict[bytes, Principal] = OrderedDict()
        self.public: dict[str, App] = dict.fromkeys(self._challenges.documents(), self._challenges.document)
        open_paths = [path for path in public if path == "/" or not path.endswith("/")]
        self._free = _OPEN | self.public.keys() | set(open_paths)
        self._open_under = tuple(path for path in public if path not in open_paths)

    def refusal(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """Why the request's token is refused; ``UNVERIFIED`` when that is not known yet.

        When it is not refused, its principal is put into ``scope``, under ``PRINCIPAL``.
        """
        path: str = scope["path"]
        if path in self._free or path.startswith(self._open_under):
            return None
        value = authorization[7:] if authorization.startswith(b"Bearer ") else _credentials(authorization)
        if value is None:
            return self._challenges.unauthorized(scope, presented=False)
        digest = hashed(value.strip())
        principal = self._static.get(digest)
        if principal is None:
            principal = self._verified.get(digest)
            if principal is None or principal.until <= self._clock():
                return self._unknown(scope, value)
        needed = self._needs.get(path)
        if needed is None:
            needed = _NOBODY if path in _STATUS else self._all
        if not needed <= principal.scopes or principal.endpoint not in (None, path):
            return self._challenges.forbidden(scope, needed)
        scope[PRINCIPAL] = principal.id
        return None

    async def verify(self, scope: Scope, authorization: bytes) -> RefusedResponse | None:
        """Have the issuer's keys decide about a token; when it is good, ``refusal`` knows it now."""
        assert self._issuer is not None
        token = authorization.partition(b" ")[2].strip()
        try:
            principal = await self._issuer.principal(token)
        except TokenRejected as fault:
            _log.info("a token was refused: %s", fault)
            return self._challenges.unauthorized(scope, presented=True)
        except KeysUnavailable:
            return _NO_KEYS
        if not self._issuer.required <= principal.scopes:
            return self._challenges.forbidden(scope, self._issuer.required)
        if len(self._verified) >= _MOST_VERIFIED:
            self._verified.popitem(last=False)
        self._verified[hashed(token)] = principal
        return None

    def _unknown(self, scope: Scope, value: bytes) -> RefusedResponse:
        if self._issuer is not None and value.count(b".") == 2:
            return UNVERIFIED
        return self._challenges.unauthorized(scope, presented=True)


def _credentials(authorization: bytes) -> bytes | None:
    """What follows the scheme, whose case does not count; ``None`` when it is another one."""
    scheme, _, value = authorization.partition(b" ")
    return value if scheme.lower() == b"bearer" else None
