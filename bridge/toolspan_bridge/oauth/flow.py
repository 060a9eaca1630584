"""A sign-in from its beginning: who signs in whom, as which client, for what, and by which way."""

from __future__ import annotations

from mcp.client.auth.utils import issuers_match

from toolspan_server.engines.upstreams import ServerSpec
from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of, known_as
from ._requests import requests
from .assertions import JWT_BEARER, assertion_for
from .by_person import signed_in_by_person
from .challenge import Challenge
from .discovery import Authority, discover
from .person import SignInRequest, SignInWay
from .registration import configured, documented
from .sign_in import Client, SignIn
from .store import SignInStore
from .tokens import granted


async def sign_in(
    spec: ServerSpec, challenge: Challenge, kept: SignIn | None, way: SignInWay, store: SignInStore
) -> SignIn:
    """Sign in to the MCP server of ``spec``, which answered with ``challenge``.

    ``kept`` is what is known from before: its client is used again if it belongs to the same issuer, and its
    scopes are asked for again when the server wants more. ``store`` has the sign-ins at identity providers.
    Raises ``AuthError`` and ``StoreError``.
    """
    server, settings = known_as(spec.url), spec.oauth or OAuthClientConfig()
    async with requests(server, settings) as asking:
        authority = await discover(asking, server, challenge, settings.issuer or "")
        if authority is None:
            raise AuthError(
                f"{host_of(server)} does not say how to sign in (OAuth): it may want a key in headers"
            )
        same = kept if kept is not None and issuers_match(kept.issuer, authority.issuer) else None
        _require_issuer(authority, settings, kept)
        scopes = wanted_scopes(authority, settings, challenge, same)
        if settings.grant == "authorization_code":
            request = SignInRequest(
                spec.name, server, authority.issuer, scopes, has_signed_in=kept is not None
            )
            known = same.client if same is not None and _is_usable(same.client, settings) else None
            return await signed_in_by_person(asking, authority, settings, way, request, known)
        grant = {"grant_type": "client_credentials"}
        if settings.grant == "jwt_bearer":
            assertion = await assertion_for(asking, authority, spec, scopes, way, store)
            grant = {"grant_type": JWT_BEARER, "assertion": assertion}
        if scopes:
            grant["scope"] = " ".join(scopes)
        client = configured(authority, settings) or documented(authority, settings)
        if client is None:
            raise AuthError(
                f"{host_of(authority.issuer)} takes no client by its metadata document: add client_id"
            )
        return await granted(asking, authority.unsigned(client, scopes), grant, settings)


def wanted_scopes(
    authority: Authority, settings: OAuthClientConfig, challenge: Challenge, kept: SignIn | None
) -> tuple[str, ...]:
    """The scopes to ask for, by MCP's order: those of the challenge, else those that the server publishes,
    else none; the config's instead of them. Earlier ones stay when the server wants more.
    """
    named = challenge.scopes or authority.scopes or ()
    asked = list(settings.scopes or named)
    if challenge.wants_more:
        earlier = kept.scopes if kept is not None else ()
        asked = [*earlier, *settings.scopes, *challenge.scopes]
    renews = settings.grant == "authorization_code" and authority.lists("scopes_supported", "offline_access")
    if asked and renews:
        asked.append("offline_access")
    return tuple(dict.fromkeys(asked))


def _require_issuer(authority: Authority, settings: OAuthClientConfig, kept: SignIn | None) -> None:
    """A client of the config belongs to one issuer: the one it names, else that of the first sign-in."""
    if settings.issuer and not issuers_match(settings.issuer, authority.issuer):
        raise AuthError(
            f"{host_of(authority.server)} is signed in to at {authority.issuer!r}, not at the issuer of its "
            f"oauth, {settings.issuer!r}: refused"
        )
    if settings.client_id is None or settings.issuer or kept is None or kept.client.origin != "config":
        return
    if not issuers_match(kept.issuer, authority.issuer):
        raise AuthError(
            f"{host_of(authority.server)} wants the sign-in at {authority.issuer!r} now, but the client "
            f"{settings.client_id!r} belongs to {kept.issuer!r}: refused (name the right issuer in its oauth)"
        )


def _is_usable(client: Client, settings: OAuthClientConfig) -> bool:
    """Whether the client is still the one to sign in as."""
    if settings.client_id is not None or client.is_expired:
        return False
    if client.origin == "document":
        return client.client_id == settings.client_metadata_url
    return client.origin == "registered"
