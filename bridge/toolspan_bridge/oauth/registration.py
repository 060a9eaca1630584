"""As which client to sign in: the config's, one that a document describes, or one that registers itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of
from ._requests import Requests
from .discovery import Authority
from .sign_in import Client
from .tokens import refusal

Method = Literal["none", "client_secret_basic", "client_secret_post"]
_METHODS: tuple[Method, ...] = ("none", "client_secret_basic", "client_secret_post")
_SUPPORTED = "token_endpoint_auth_methods_supported"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def configured(authority: Authority, settings: OAuthClientConfig) -> Client | None:
    """The client of the config, if it names one; how it authenticates itself is what both sides can do."""
    if settings.client_id is None:
        return None
    if settings.private_key:
        return Client(settings.client_id, method="private_key_jwt", origin="config")
    secret = settings.client_secret or ""
    return Client(settings.client_id, secret, _method(authority, "", secret), origin="config")


def documented(authority: Authority, settings: OAuthClientConfig) -> Client | None:
    """The client that the config's metadata document describes, where the authorization server takes such."""
    document = settings.client_metadata_url
    takes = getattr(authority.metadata, "client_id_metadata_document_supported", None) is True
    return Client(document, origin="document") if document and takes else None


async def client_for(
    requests: Requests,
    authority: Authority,
    settings: OAuthClientConfig,
    redirect_uri: str,
    scopes: tuple[str, ...],
) -> Client:
    """The client to sign in as, with ``redirect_uri``. Raises ``AuthError`` when there is none."""
    if (client := configured(authority, settings)) is not None:
        return replace(client, redirect_uri=redirect_uri)
    if (client := documented(authority, settings)) is not None:
        return replace(client, redirect_uri=redirect_uri)
    if not authority.registration_endpoint:
        raise AuthError(
            f"{host_of(authority.issuer)} registers no clients by itself: register one there, with the "
            "redirect URI http://localhost:PORT/callback, and name it in the config, in the server's oauth: "
            "client_id and callback_port"
        )
    return await _registered(requests, authority, redirect_uri, scopes)


async def _registered(
    requests: Requests, authority: Authority, redirect_uri: str, scopes: tuple[str, ...]
) -> Client:
    """A client that registers itself (RFC 7591)."""
    asked: dict[str, Any] = {
        "client_name": "Toolspan",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": next(
            (method for method in _METHODS if authority.lists(_SUPPORTED, method)), "none"
        ),
        "application_type": "native",
    }
    if authority.lists("grant_types_supported", DEVICE_GRANT):
        asked["grant_types"].append(DEVICE_GRANT)
    if scopes:
        asked["scope"] = " ".join(scopes)
    reply = await requests.post_json(authority.registration_endpoint, asked)
    where = host_of(authority.registration_endpoint)
    if reply.status not in (200, 201):
        raise AuthError(f"{where} does not register the client: {refusal(reply, where).message}")
    client_id, secret = reply.data.get("client_id"), reply.data.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        raise AuthError(f"{where} answered the registration without a client_id")
    kept = secret if isinstance(secret, str) else ""
    given = reply.data.get("token_endpoint_auth_method")
    method = _method(authority, given if isinstance(given, str) else "", kept)
    ends = reply.data.get("client_secret_expires_at")
    expires = float(ends) if isinstance(ends, int | float) else 0.0
    return Client(client_id, kept, method, redirect_uri, "registered", expires)


def _method(authority: Authority, given: str, secret: str) -> Method:
    """How a client authenticates itself: as the server says, else the best that both sides can do."""
    where = host_of(authority.issuer)
    if given and given not in _METHODS:
        raise AuthError(
            f"{where} wants the client to authenticate itself by {given[:100]!r}, which it cannot"
        )
    if given and given != "none" and not secret:
        raise AuthError(f"{where} registered the client for {given} but gave it no secret")
    for method in _METHODS:
        if method == given:
            return method
    if not secret:
        return "none"
    listed: list[str] = getattr(authority.metadata, _SUPPORTED, None) or ["client_secret_basic"]
    if "client_secret_basic" in listed:
        return "client_secret_basic"
    return "client_secret_post" if "client_secret_post" in listed else "none"
