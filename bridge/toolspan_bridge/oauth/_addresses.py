"""Which addresses take part in a sign-in: a server names them, so none is taken on trust."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from ..errors import AuthError

_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def host_of(url: str) -> str:
    """Host and port as a person knows them."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def is_loopback(url: str) -> bool:
    """Whether ``url`` is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def known_as(url: str) -> str:
    """The URL by which a server's sign-in is kept: without user, password and fragment, the host in lower
    case."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return urlunsplit((parts.scheme.lower(), host, parts.path, parts.query, ""))


def checked(url: str, what: str, server: str) -> str:
    """``url``, which the server at ``server``, or its authorization server, gave as ``what``.

    Raises ``AuthError`` unless it is https, or on this machine when the server is too: MCP wants TLS for
    every endpoint of an authorization server, and what a far server names on this machine is an attack.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        raise AuthError(f"{host_of(server)} names {url[:200]!r} as its {what}, which is no http or https URL")
    if is_loopback(url):
        if is_loopback(server):
            return url
        raise AuthError(f"{host_of(server)} names {url[:200]!r}, on this machine, as its {what}: refused")
    if urlsplit(url).scheme != "https":
        raise AuthError(f"{host_of(server)} names {url[:200]!r} as its {what}: only https is safe for that")
    return url
