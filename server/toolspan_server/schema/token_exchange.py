"""``token_exchange`` of a server: where a caller's token is exchanged for one of that server (RFC 8693)."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from ..problems import Fault, Faulty
from .constraints import Limits
from .records import Record, key

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)):
        hint = "write one such as https://login.example.com/token"
        raise Faulty(Fault((), "is not an https URL, and callers' tokens are sent there", hint))
    return text


class TokenExchangeConfig(Record):
    """The token endpoint, and the client that exchanges there."""

    token_url: str = key("The token endpoint of the authorization server.", check=_endpoint, hidden=True)
    client_id: str = key("The id of the client that exchanges.", least=1)
    client_secret: str | None = key("Its secret.", least=1, default=None, hidden=True)
    audience: str | None = key("The audience that the new token is for.", least=1, default=None)
    resource: str | None = key("The URL of the server that the new token is for.", least=1, default=None)
    scopes: tuple[Annotated[str, Limits(least=1, most=200)], ...] = key(
        "The scopes of the new token.", default=()
    )
