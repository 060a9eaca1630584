"""What stands before every HTTP route: Host, Origin, token, content type, size.

MCP 2026-07-28, basic/transports, security warning: servers must check ``Origin`` and should bind to
loopback only. Checking ``Host`` as well is what stops DNS rebinding.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from . import jsonrpc

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
MAX_BODY_BYTES = 4 * 1024 * 1024
_AUTHORITY = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?"
_HOST = re.compile(_AUTHORITY)
_ORIGIN = re.compile(r"https?://(?P<authority>" + _AUTHORITY + ")")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may talk to the server.

    ``names`` are the hosts that a request may name. ``addresses`` adds every literal IP address (a
    rebinding attack needs a name), ``any_name`` every name (with a token, which such an attack does
    not have). ``token`` is the bearer token that every route but ``/healthz`` needs.
    """

    names: frozenset[str] = LOOPBACK
    addresses: bool = False
    any_name: bool = False
    token: str | None = None

    def serves(self, host: str) -> bool:
        """Whether a request may name ``host`` (in lower case, an IPv6 address in brackets)."""
        return self.any_name or host in self.names or (self.addresses and _is_address(host))


@dataclass(frozen=True, slots=True)
class Refused:
    """An HTTP answer that the guard gives itself."""

    status: int
    message: str
    headers: tuple[Header, ...] = ()

    async def send(self, send: Send) -> None:
        """Send it, as a JSON-RPC error without an id, and close the connection."""
        body = jsonrpc.encode(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, self.message))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *self.headers,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class Guard:
    """An ASGI app that lets to ``app`` only what ``access`` allows."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self.refusal(scope)
        if refused is None:
            await self._app(scope, receive, send)
        else:
            await refused.send(send)

    def refusal(self, scope: Scope) -> Refused | None:
        """Why the request is refused, or ``None``."""
        headers: list[Header] = scope["headers"]
        return (
            self._wrong_host(headers)
            or self._wrong_origin(headers)
            or self._wrong_token(scope["path"], headers)
            or (_wrong_body(headers) if scope["method"] == "POST" else None)
        )

    def _wrong_host(self, headers: list[Header]) -> Refused | None:
        hosts = _values(headers, b"host")
        if len(hosts) != 1:
            return Refused(400, "Exactly one Host header is needed")
        match = _HOST.fullmatch(hosts[0])
        if match is None or not self._access.serves(match["host"].lower()):
            return Refused(421, "This server does not serve the host that the request names")
        return None

    def _wrong_origin(self, headers: list[Header]) -> Refused | None:
        origins = _values(headers, b"origin")
        if not origins:
            return None
        match = _ORIGIN.fullmatch(origins[0])
        if len(origins) == 1 and match is not None:
            host = match["host"].lower()
            same = match["authority"].lower() == _values(headers, b"host")[0].lower()
            if same or host in LOOPBACK or host in self._access.names:
                return None
        return Refused(403, "Requests of this Origin are not allowed")

    def _wrong_token(self, path: str, headers: list[Header]) -> Refused | None:
        token = self._access.token
        if token is None or path == "/healthz":
            return None
        given = _values(headers, b"authorization")
        scheme, _, value = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        fits = secrets.compare_digest(value.strip().encode(), token.encode())
        if scheme.lower() == "bearer" and fits:
            return None
        return Refused(401, "A bearer token is needed", ((b"www-authenticate", b"Bearer"),))


def _wrong_body(headers: list[Header]) -> Refused | None:
    types = _values(headers, b"content-type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != "application/json":
        return Refused(415, "Content-Type must be application/json")
    lengths = _values(headers, b"content-length")
    if any(not length.isdecimal() or int(length[:20]) > MAX_BODY_BYTES for length in lengths):
        return Refused(413, f"A request body is at most {MAX_BODY_BYTES} bytes")
    return None


def _values(headers: list[Header], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
