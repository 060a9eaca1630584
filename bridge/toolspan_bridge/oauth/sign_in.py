"""A sign-in to a remote MCP server: the tokens, whom they are from, and the client that has them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self, cast

_EARLY_SECONDS = 30.0
"""A token is renewed this long before it ends, or for the last tenth of a short life."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client as its authorization server knows it.

    ``method`` is how it authenticates itself when it asks for tokens (RFC 7591's
    ``token_endpoint_auth_method``); ``origin`` whether it ``registered`` itself, is named by a metadata
    ``document``, or comes from the ``config``. ``secret_expires_at`` is in seconds since 1970, 0: never.
    """

    client_id: str
    secret: str = ""
    method: str = "none"
    redirect_uri: str = ""
    origin: Literal["registered", "document", "config"] = "registered"
    secret_expires_at: float = 0.0

    @property
    def is_expired(self) -> bool:
        """Whether its secret is not taken any more."""
        return 0 < self.secret_expires_at <= time.time()


@dataclass(frozen=True, slots=True)
class SignIn:
    """Tokens for the server at the URL ``server``, which the authorization server ``issuer`` gave ``client``.

    ``scopes`` are those that were asked for or granted; ``expires_at`` is in seconds since 1970, ``None``
    where that was not said. Without an ``access_token`` nobody is signed in, and only the client is known.
    ``proof_key`` is the private key in PEM format that the tokens are bound to, empty for bearer tokens.
    ``id_token`` is what an identity provider said of the person.
    """

    server: str
    issuer: str
    token_endpoint: str
    resource: str
    client: Client
    access_token: str = ""
    refresh_token: str = ""
    expires_at: float | None = None
    scopes: tuple[str, ...] = ()
    revocation_endpoint: str = ""
    proof_key: str = ""
    id_token: str = ""

    @property
    def is_fresh(self) -> bool:
        """Whether the access token is there and not about to end."""
        return bool(self.access_token) and not self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the access token has ended, or is about to."""
        return self.expires_at is not None and time.time() >= self.expires_at

    def without_tokens(self) -> SignIn:
        """The same client, signed out."""
        return replace(self, access_token="", refresh_token="", proof_key="", id_token="", expires_at=None)

    def as_data(self) -> dict[str, Any]:
        """JSON data for ``of_data``."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Any) -> Self:
        """The sign-in that ``data`` is. Raises ``ValueError`` when it is none."""
        try:
            whole = dict(cast("dict[str, Any]", data))
            client = Client(**_known(Client, whole.pop("client")))
            scopes = tuple(str(scope) for scope in whole.pop("scopes", ()))
            return cls(client=client, scopes=scopes, **_known(cls, whole))
        except (TypeError, KeyError) as error:
            raise ValueError(f"no sign-in: {error}") from None


def expiry(expires_in: float | None) -> float | None:
    """When a token that lives for ``expires_in`` seconds from now on is to be renewed."""
    if expires_in is None:
        return None
    return time.time() + expires_in - min(_EARLY_SECONDS, expires_in / 10)


def _known(kind: type, data: Any) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in dict(data).items() if name in names}
