"""``oauth`` of an MCP server: as which OAuth client to sign in to it, in the format of other clients."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from typing_extensions import override

from ..problems import Fault, Faulty
from .constraints import BeforeValidator
from .records import Record, key

_SCOPE = r"[\x21\x23-\x5b\x5d-\x7e]+"


def _split(value: Any, _info: Any) -> Any:
    """Scopes are also written as OAuth does: one string with spaces between them."""
    return value.split() if isinstance(value, str) else value


def _https(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname or parts.path in ("", "/"):
        raise Faulty(
            Fault((), "is not an https URL with a path", "write one such as https://example.com/client.json")
        )
    return text


def _issuer(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise Faulty(Fault((), "is not the URL of an issuer", "write one such as https://login.example.com"))
    return text


def _scopes(scopes: tuple[str, ...]) -> tuple[str, ...]:
    faults = [
        Fault((number,), f"{scope!r} cannot be a scope", "use visible ASCII without quotes and backslashes")
        for number, scope in enumerate(scopes)
        if not re.fullmatch(_SCOPE, scope)
    ]
    if faults:
        raise Faulty(*faults)
    return scopes


class IdentityProviderConfig(Record, unknown="ignore"):
    """The company's identity provider, which says who a person is and which MCP servers they may use
    (enterprise-managed authorization). Unknown keys are ignored.
    """

    issuer: str = key("The identity provider's issuer.", check=_issuer)
    client_id: str = key(
        "The id of the client that people sign in with there.", least=1, spellings=["client_id", "clientId"]
    )
    client_secret: str | None = key(
        "Its secret.", least=1, default=None, spellings=["client_secret", "clientSecret"], hidden=True
    )
    id_token_file: str | None = key(
        "A file with the person's ID token, where another program signs in; relative to the config's folder, "
        "read at each use. By default the person signs in with the browser.",
        least=1,
        default=None,
        spellings=["id_token_file", "idTokenFile"],
    )


class OAuthClientConfig(Record, unknown="ignore"):
    """The OAuth client that signs in to a remote MCP server. Without a ``client_id`` the client registers
    itself, or is named by its ``client_metadata_url``. Unknown keys, as other clients have, are ignored.
    """

    client_id: str | None = key(
        "The id of a client that was registered with the authorization server beforehand.",
        least=1,
        default=None,
        spellings=["client_id", "clientId"],
    )
    client_secret: str | None = key(
        "Its secret.", least=1, default=None, spellings=["client_secret", "clientSecret"], hidden=True
    )
    private_key: str | None = key(
        "Its private key in PEM format, which signs its requests for tokens; instead of a secret.",
        least=1,
        default=None,
        spellings=["private_key", "privateKey"],
        hidden=True,
    )
    client_metadata_url: str | None = key(
        "The https URL of a client id metadata document, which is the client's id where the authorization "
        "server takes such; elsewhere the client registers itself.",
        check=_https,
        default=None,
        spellings=["client_metadata_url", "clientMetadataUrl"],
    )
    issuer: str | None = key(
        "The authorization server that the client belongs to; another is refused. By default the one that "
        "the MCP server names at the first sign-in.",
        check=_issuer,
        default=None,
    )
    scopes: Annotated[tuple[str, ...], BeforeValidator(_split, {"text": True})] = key(
        "The scopes to ask for, as a list or one string; by default those that the MCP server names.",
        check=_scopes,
        default=(),
        spellings=["scopes", "scope"],
    )
    callback_port: int | None = key(
        "The port of the redirect URI http://localhost:PORT/callback, where the client was registered with a "
        "fixed one; by default any free port.",
        least=1,
        most=65_535,
        default=None,
        spellings=["callback_port", "callbackPort"],
    )
    grant: Literal["authorization_code", "client_credentials", "jwt_bearer"] = key(
        "authorization_code signs in a person, in a browser or by a device code; client_credentials the "
        "client itself, without a person; jwt_bearer whoever a signed token names: the workload of "
        "assertion_file, or the person of identity_provider.",
        default="authorization_code",
        spellings=["grant", "grant_type", "grantType"],
    )
    assertion_file: str | None = key(
        "jwt_bearer: the file with the token of this workload (a JWT), such as Kubernetes projects; relative "
        "to the config's folder, read at each use. It is sent to the issuer.",
        least=1,
        default=None,
        spellings=["assertion_file", "assertionFile"],
    )
    identity_provider: IdentityProviderConfig | None = key(
        "jwt_bearer: the company's identity provider, which gives the token.",
        default=None,
        spellings=["identity_provider", "identityProvider"],
    )

    @override
    def check(self) -> None:
        if (self.client_secret or self.private_key) and not self.client_id:
            raise Faulty(Fault((), "a secret without a client_id", "add the client_id that it belongs to"))
        if self.client_secret and self.private_key:
            raise Faulty(Fault((), "both a client_secret and a private_key", "keep one of them"))
        if self.grant == "client_credentials" and not (self.client_secret or self.private_key):
            hint = "add the client_id and its client_secret or private_key"
            raise Faulty(Fault((), "client_credentials needs credentials", hint))
        if fault := self._bearer_fault():
            raise Faulty(fault)

    def sent_files(self) -> dict[str, str]:
        """The files whose contents are sent, each with the issuer that gets them."""
        found = {self.assertion_file: self.issuer or ""} if self.assertion_file else {}
        if (provider := self.identity_provider) is not None and provider.id_token_file:
            found[provider.id_token_file] = provider.issuer
        return found

    def secrets(self) -> set[str]:
        """What no message may show."""
        provider = self.identity_provider
        found = {self.client_secret, self.private_key, provider.client_secret if provider else None}
        return {each for each in found if each}

    def _bearer_fault(self) -> Fault | None:
        sources = [name for name in ("assertion_file", "identity_provider") if getattr(self, name)]
        if self.grant != "jwt_bearer":
            hint = "set grant to jwt_bearer, or remove it"
            return Fault((sources[0],), f"only jwt_bearer uses {sources[0]}", hint, True) if sources else None
        if len(sources) != 1:
            hint = "add one of assertion_file and identity_provider" if not sources else "keep one of them"
            problem = (
                "jwt_bearer needs a token" if not sources else "both assertion_file and identity_provider"
            )
            return Fault((), problem, hint)
        if not (self.client_id or self.client_metadata_url):
            return Fault((), "jwt_bearer needs a client", "add the client_id, or a client_metadata_url")
        if self.assertion_file and not self.issuer:
            hint = "add the issuer that the token is for: it is sent to no other"
            return Fault((), "assertion_file without an issuer", hint)
        return None
