"""What stands before every HTTP route: Host, Origin, token, content type.

MCP 2026-07-28, basic/transports, security warning: servers must check ``Origin`` and should bind to
loopback only. Checking ``Host`` as well is what stops DNS rebinding: such an attack needs a name, so
names are compared exactly, and the port, which a tunnel or a container may change, only has to be one.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from . import jsonrpc

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_MOST_REMEMBERED = 256
_JSON = b"application/json"
_PORT = rb"(?::(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
_AUTHORITY = rb"(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,255})" + _PORT
_HOST = re.compile(_AUTHORITY)
_ORIGIN = re.compile(rb"https?://(?P<authority>" + _AUTHORITY + rb")")


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
        headers, body = self._rendered()
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def raw(self) -> bytes:
        """The same answer as bytes of HTTP/1.1, for a request that no app will see."""
        headers, body = self._rendered()
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", body])

    def _rendered(self) -> tuple[list[Header], bytes]:
        body = jsonrpc.encode(jsonrpc.error(None, jsonrpc.INVALID_REQUEST, self.message))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *self.headers,
        ]
        return headers, body


_ONE_HOST = Refused(400, "Exactly one Host header is needed")
_FOREIGN = Refused(403, "Requests of this Origin are not allowed")
_NO_TOKEN = Refused(401, "A bearer token is needed", ((b"www-authenticate", b"Bearer"),))
_NOT_JSON = Refused(415, "Content-Type must be application/json")
_ONCE = {b"host": _ONE_HOST, b"origin": _FOREIGN, b"authorization": _NO_TOKEN, b"content-type": _NOT_JSON}


class Guard:
    """An ASGI app that lets to ``app`` only what ``access`` allows."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access
        self._token = None if access.token is None else access.token.encode()
        self._allowed: set[tuple[bytes, bytes | None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self.refusal(scope)
        if refused is None:
            await self._app(scope, receive, send)
        else:
            await refused.send(send)

    def refusal(self, scope: Scope) -> Refused | None:
        """Why the request is refused, or ``None``."""
        headers: list[Header] = scope["headers"]
        values = dict(headers)
        if len(values) != len(headers):
            refused = _duplicated(headers)
            if refused is not None:
                return refused
        host, origin = values.get(b"host"), values.get(b"origin")
        if (host, origin) not in self._allowed:
            refused = self._wrong_host(host) or self._wrong_origin(origin, host)
            if refused is not None:
                return refused
            self._allow(host or b"", origin)
        if self._token is not None and scope["path"] != "/healthz":
            refused = self._wrong_token(values.get(b"authorization", b""))
            if refused is not None:
                return refused
        if scope["method"] == "POST" and not _is_json(values.get(b"content-type", b"")):
            return _NOT_JSON
        return None

    def _allow(self, host: bytes, origin: bytes | None) -> None:
        if len(self._allowed) >= _MOST_REMEMBERED:
            self._allowed.clear()
        self._allowed.add((host, origin))

    def _wrong_host(self, host: bytes | None) -> Refused | None:
        if host is None:
            return _ONE_HOST
        match = _HOST.fullmatch(host)
        if match is None or not self._access.serves(match["host"].decode().lower()):
            return Refused(421, "This server does not serve the host that the request names")
        return None

    def _wrong_origin(self, origin: bytes | None, host: bytes | None) -> Refused | None:
        if origin is None:
            return None
        match = _ORIGIN.fullmatch(origin)
        if match is not None:
            name = match["host"].decode().lower()
            same = host is not None and match["authority"].lower() == host.lower()
            if same or name in LOOPBACK or name in self._access.names:
                return None
        return _FOREIGN

    def _wrong_token(self, authorization: bytes) -> Refused | None:
        assert self._token is not None
        scheme, _, value = authorization.partition(b" ")
        fits = secrets.compare_digest(value.strip(), self._token)
        return None if fits and scheme.lower() == b"bearer" else _NO_TOKEN


def _duplicated(headers: list[Header]) -> Refused | None:
    """Why a request with a header more than once is refused: which of them counts, no two programs agree."""
    names = [name for name, _ in headers]
    return next((refused for name, refused in _ONCE.items() if names.count(name) > 1), None)


def _is_json(content_type: bytes) -> bool:
    return content_type == _JSON or content_type.partition(b";")[0].strip().lower() == _JSON


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
