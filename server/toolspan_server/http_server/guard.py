"""The checks before every HTTP route: Host, Origin, token, content type.

MCP 2026-07-28, basic/transports, security warning: servers must check ``Origin`` and should bind to
loopback only. Checking ``Host`` as well is what stops DNS rebinding: such an attack needs a name, so
names are compared exactly, and the port, which a tunnel or a container may change, only has to be one.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from .asgi import (
    App,
    Header,
    Receive,
    RefusedResponse,
    Render,
    Scope,
    Send,
)
from .auth import UNVERIFIED, Authenticator, auth_of_token
from .connection.request_cycle import CYCLE, RequestCycle

__all__ = ["LOOPBACK", "Access", "App", "Guard", "Header", "Receive", "RefusedResponse", "Scope", "Send"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_MOST_REMEMBERED = 256
_JSON = b"application/json"
_PORT = rb"(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
_AUTHORITY = rb"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,255})" + _PORT
_HOST = re.compile(_AUTHORITY)
_ORIGIN = re.compile(rb"https?://(?P<authority>" + _AUTHORITY + rb")")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may access the server.

    ``names`` are the hosts that a request may name. ``addresses`` adds every literal IP address (a
    rebinding attack needs a name), ``any_name`` every name (with a token, which such an attack does
    not have). ``auth`` has the tokens that every route but ``/healthz`` requires; ``token`` is
    short for one that may do everything.
    """

    names: frozenset[str] = LOOPBACK
    addresses: bool = False
    any_name: bool = False
    token: str | None = None
    auth: Authenticator | None = None

    def serves(self, host: str) -> bool:
        """Whether a request may name ``host`` (in lower case, an IPv6 address in brackets)."""
        return self.any_name or host in self.names or (self.addresses and _is_address(host))


_ONE_HOST = RefusedResponse(400, "Exactly one Host header is needed")
_FOREIGN = RefusedResponse(403, "Requests of this Origin are not allowed")
_TWO_TOKENS = RefusedResponse(
    401, "Exactly one Authorization header is needed", ((b"www-authenticate", b"Bearer"),)
)
_NOT_JSON = RefusedResponse(415, "Content-Type must be application/json")
_ONE_LAST_EVENT = RefusedResponse(400, "At most one Last-Event-ID header may be there")
_ONCE = {
    b"host": _ONE_HOST,
    b"origin": _FOREIGN,
    b"authorization": _TWO_TOKENS,
    b"content-type": _NOT_JSON,
    b"last-event-id": _ONE_LAST_EVENT,
}


class Guard:
    """Passes to ``app`` only requests that ``access`` allows, and reports the others to ``on_refused``.

    ``once`` are the refusals of requests that repeat a header, by how its name starts; ``render_of`` gives
    what writes the body of a refusal.
    """

    def __init__(
        self,
        app: App,
        access: Access,
        on_refused: Callable[[RefusedResponse], None] = lambda _refused: None,
        *,
        once: Mapping[bytes, RefusedResponse] | None = None,
        render_of: Callable[[Scope], Render] | None = None,
    ) -> None:
        self._app = app
        self._on_refused = on_refused
        self._once: Mapping[bytes, RefusedResponse] = {} if once is None else once
        self._render_of = render_of
        self.replace(access)

    def replace(self, access: Access) -> None:
        """Apply ``access`` to every request from now on, after a config with another ``auth`` was loaded.

        ``Entrance`` computes the access of a config, and says when it must not be served.
        """
        self._access = access
        self._auth = auth_of_token(access.token) if access.auth is None and access.token else access.auth
        self._allowed: set[tuple[bytes, bytes | None]] = set()

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        refused = self.refusal(scope)
        if refused is None and self._auth is None:
            return self._app(scope, receive, send)
        return self._decided(refused, scope, receive, send)

    async def _decided(
        self, refused: RefusedResponse | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        auth: Authenticator | None = None
        while refused is UNVERIFIED and auth is not self._auth and (auth := self._auth) is not None:
            authorization = dict(scope["headers"])[b"authorization"]
            refused = await auth.verify(scope, authorization) or self.refusal(scope)
        if refused is not None:
            self._on_refused(refused)
            await refused.send(send, self._render_of(scope) if self._render_of else None)
            return
        app = self._app if self._auth is None else self._auth.public.get(scope["path"], self._app)
        await app(scope, receive, send)

    def refusal(self, scope: Scope) -> RefusedResponse | None:
        """Why the request is refused, or ``None``; ``UNVERIFIED``: its token has to be verified first."""
        cycle: RequestCycle | None = scope.get(CYCLE)
        head = None if cycle is None else cycle.head
        if head is not None and head.allowed_by is self._access:
            return (
                None
                if self._auth is None
                else self._auth.refusal(scope, head.fields.get(b"authorization", b""))
            )
        refused = self._refusal(scope)
        if refused is None and head is not None:
            head.allowed_by = self._access
        return refused

    def _refusal(self, scope: Scope) -> RefusedResponse | None:
        headers: list[Header] = scope["headers"]
        values = dict(headers)
        if len(values) != len(headers):
            refused = _duplicated(headers, self._once)
            if refused is not None:
                return refused
        host, origin = values.get(b"host"), values.get(b"origin")
        if (host, origin) not in self._allowed:
            refused = self._wrong_host(host) or self._wrong_origin(origin, host)
            if refused is not None:
                return refused
            self._allow(host or b"", origin)
        if self._auth is not None:
            refused = self._auth.refusal(scope, values.get(b"authorization", b""))
            if refused is not None:
                return refused
        if scope["method"] == "POST" and not _is_json(values.get(b"content-type", b"")):
            return _NOT_JSON
        return None

    def _allow(self, host: bytes, origin: bytes | None) -> None:
        if len(self._allowed) >= _MOST_REMEMBERED:
            self._allowed.clear()
        self._allowed.add((host, origin))

    def _wrong_host(self, host: bytes | None) -> RefusedResponse | None:
        if host is None:
            return _ONE_HOST
        match = _HOST.fullmatch(host)
        if match is None or not self._access.serves(match["host"].decode().lower()):
            return RefusedResponse(421, "This server does not serve the host that the request names")
        return None

    def _wrong_origin(self, origin: bytes | None, host: bytes | None) -> RefusedResponse | None:
        if origin is None:
            return None
        match = _ORIGIN.fullmatch(origin)
        if match is not None:
            name = match["host"].decode().lower()
            same = host is not None and match["authority"].lower() == host.lower()
            if same or name in LOOPBACK or name in self._access.names:
                return None
        return _FOREIGN


def _duplicated(headers: list[Header], once: Mapping[bytes, RefusedResponse]) -> RefusedResponse | None:
    """Why a request with a repeated header is refused: programs do not agree on which line counts.

    A list (``Accept``) may be on several lines (RFC 9110, 5.3).
    """
    counted = Counter(name for name, _ in headers)
    twice = [name for name, count in counted.items() if count > 1]
    for start, refused in once.items():
        if any(name.startswith(start) for name in twice):
            return refused
    return next((refused for name, refused in _ONCE.items() if name in twice), None)


def _is_json(content_type: bytes) -> bool:
    return content_type == _JSON or content_type.partition(b";")[0].strip().lower() == _JSON


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
