"""``auth``: authentication of the server over HTTP."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, Literal
from urllib.parse import urlsplit

from typing_extensions import override

from ...problems import Fault, Faulty
from ...schema.constraints import Limits
from ...schema.records import (
    Record,
    key,
)
from ...schema.values import Count

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Algorithms with a private key: those who can verify a signature cannot create one."""

_LEAST_TOKEN = 16
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_Scope = Annotated[str, Limits(pattern=r"^[!#-\[\]-~]{1,200}$")]
_Name = Annotated[str, Limits(pattern=r"^[A-Za-z0-9_.@-]{1,64}$")]
_Scopes = tuple[_Scope, ...]


def _token(value: str) -> str:
    if len(value) < _LEAST_TOKEN or not _TOKEN.fullmatch(value):
        raise Faulty(
            Fault(
                (),
                f"is no bearer token of at least {_LEAST_TOKEN} letters, digits and - . _ ~ + /",
                "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            )
        )
    return value


def _digest(value: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise Faulty(
            Fault((), "is no SHA-256 in 64 hexadecimal digits", "make it with: toolspan-server --hash-token")
        )
    return value.lower()


def _safe_url(value: str) -> str:
    """Check that the URL is safe against tampering: https, or this machine."""
    parts = _parts(value)
    if parts is None or not (parts[0] == "https" or _is_loopback(parts[1])):
        raise Faulty(Fault((), "is not an https URL", "write one such as https://login.example.com"))
    return value


def _public_url(value: str) -> str:
    if _parts(value) is None or "?" in value:
        hint = "write it without a path of this server, such as https://tools.example.com"
        raise Faulty(Fault((), "is not an http or https URL", hint))
    return value.rstrip("/")


def _parts(value: str) -> tuple[str, str] | None:
    """Scheme and host of a URL that has both, and neither credentials nor a fragment."""
    try:
        parts = urlsplit(value)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    if not whole or "@" in parts.netloc or "#" in value or not re.fullmatch(r"[!$-;=?-Z_a-z~%]+", value):
        return None
    return parts.scheme, parts.hostname or ""


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class TokenConfig(Record):
    """A static bearer token, or a file of them: exactly one of ``token``, ``sha256`` and ``file``."""

    name: _Name | None = key(
        "The principal that has the token; sessions and tasks belong to that name.", default=None
    )
    token: str | None = key(
        "The token itself, from the environment: ${VAR}.",
        check=_token,
        default=None,
        hidden=True,
    )
    sha256: str | None = key(
        "The token's SHA-256 in hexadecimal digits, as toolspan-server --hash-token prints it.",
        check=_digest,
        default=None,
        hidden=True,
    )
    file: str | None = key(
        "A file of tokens, relative to this file's folder: one name:sha256 on each line.",
        least=1,
        default=None,
    )
    scopes: _Scopes = key("The scopes of the token.", default=())

    @override
    def check(self) -> None:
        given = [name for name in ("token", "sha256", "file") if getattr(self, name) is not None]
        if len(given) != 1:
            what = "none of token, sha256 and file" if not given else " and ".join(given) + " together"
            raise Faulty(Fault((), f"has {what}", "give exactly one of them"))
        if (self.name is None) == (self.file is None):
            raise Faulty(
                Fault((), "'name' is missing", "say who has the token")
                if self.file is None
                else Fault(("name",), "a file names its tokens itself", "leave the name out")
            )


class OAuthConfig(Record):
    """An OAuth 2.1 authorization server whose access tokens (JWT) are accepted."""

    issuer: str = key("The issuer, as in iss of its tokens: an https URL.", check=_safe_url)
    audience: tuple[Annotated[str, Limits(least=1, most=2_000)], ...] = key(
        "The identifiers of this server at the issuer; aud of a token must have one of them.",
        least=1,
    )
    jwks_url: str | None = key(
        "The URL of the issuer's keys (JWKS); found through its metadata when absent.",
        check=_safe_url,
        default=None,
    )
    required_scopes: _Scopes = key("Scopes that every token must have.", default=())
    algorithms: tuple[Algorithm, ...] = key(
        "The accepted signature algorithms; only asymmetric ones are possible.",
        least=1,
        default=("RS256", "PS256", "ES256", "EdDSA"),
    )
    leeway_seconds: int = key(
        "The tolerated difference of the clocks, in seconds.", least=0, most=300, default=30
    )
    public_url: str | None = key(
        "The URL by which clients reach this server, such as https://tools.example.com; by default "
        "taken from Host.",
        check=_public_url,
        default=None,
    )
    refresh_seconds: Count = key(
        "How old the issuer's keys may become before they are fetched again, in seconds.", default=600
    )


class ToolsetAuthConfig(Record):
    """Authentication of a toolset, in addition to ``auth``."""

    scopes: _Scopes = key("Scopes that a token needs for this toolset, all of them.", default=())
    tokens: tuple[TokenConfig, ...] = key("Tokens for this toolset only.", default=())


class AuthConfig(Record):
    """Authentication of the server over HTTP, by a token of any of these."""

    tokens: tuple[TokenConfig, ...] = key("Static bearer tokens, and files of token hashes.", default=())
    oauth: OAuthConfig | None = key(
        "An OAuth 2.1 authorization server whose access tokens are accepted.",
        default=None,
    )
    scopes: _Scopes | None = key(
        "Scopes that a token needs at /mcp and /sse, which serve every tool; those of all toolsets "
        "when absent.",
        default=None,
    )
    implies: dict[_Scope, _Scopes] = key(
        "The scopes that a broader scope includes, by its name.", factory=dict
    )

    @override
    def check(self) -> None:
        if not self.tokens and self.oauth is None:
            raise Faulty(Fault((), "allows no client", "add tokens, or oauth"))
        if faults := list(_taken_twice(self.tokens)):
            raise Faulty(*faults)


def _taken_twice(tokens: tuple[TokenConfig, ...]) -> Iterator[Fault]:
    first: dict[str | None, int] = {}
    for index, token in enumerate(tokens):
        if token.name is not None and first.setdefault(token.name, index) != index:
            message = f"the name {token.name!r} is taken by the token at place {first[token.name]}"
            yield Fault(("tokens", index, "name"), message, "give each token a name of its own")
