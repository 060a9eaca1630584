"""Signing in with a browser on this machine: the authorization code grant with PKCE (OAuth 2.1, RFC 8252)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from mcp.client.auth import PKCEParameters

from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of
from ._loopback import Loopback, listening
from ._requests import Requests
from .discovery import Authority
from .person import SignInPerson
from .registration import client_for
from .sign_in import Client, SignIn
from .tokens import granted


async def sign_in_by_browser(
    requests: Requests,
    authority: Authority,
    settings: OAuthClientConfig,
    person: SignInPerson,
    scopes: tuple[str, ...],
    kept: Client | None,
    seconds: float,
) -> SignIn:
    """The tokens that the person has the browser bring within ``seconds``, as the client ``kept`` if its
    redirect URI can be used again. Raises ``AuthError``."""
    _require_pkce(authority)
    async with listening(settings.callback_port, kept.redirect_uri if kept else "") as loopback:
        client = kept
        if client is None or client.redirect_uri != loopback.redirect_uri:
            client = await client_for(requests, authority, settings, loopback.redirect_uri, scopes)
        pkce = PKCEParameters.generate()
        await person.open(_address(authority, client, loopback, pkce, scopes), seconds)
        answer = await loopback.answer(seconds)
        code = _code(authority, answer)
        grant = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": loopback.redirect_uri,
            "code_verifier": pkce.code_verifier,
        }
        return await granted(requests, authority.unsigned(client, scopes), grant, settings)


def _require_pkce(authority: Authority) -> None:
    """MCP, authorization: a client refuses an authorization server that does not say that it does PKCE."""
    is_for_mcp = authority.metadata is not None and authority.resource
    if is_for_mcp and not authority.lists("code_challenge_methods_supported", "S256"):
        raise AuthError(
            f"{host_of(authority.issuer)} does not say that it supports PKCE with S256, without which a "
            "sign-in can be stolen: refused"
        )
    if not authority.authorization_endpoint:
        raise AuthError(f"{host_of(authority.issuer)} has no authorization endpoint")


def _address(
    authority: Authority, client: Client, loopback: Loopback, pkce: PKCEParameters, scopes: tuple[str, ...]
) -> str:
    """Where the browser goes."""
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": loopback.redirect_uri,
        "state": loopback.state,
        "code_challenge": pkce.code_challenge,
        "code_challenge_method": "S256",
    }
    if authority.resource:
        asked["resource"] = authority.resource
    if scopes:
        asked["scope"] = " ".join(scopes)
    if "offline_access" in scopes:
        asked["prompt"] = "consent"  # OpenID Connect Core, section 11
    separator = "&" if urlsplit(authority.authorization_endpoint).query else "?"
    return authority.authorization_endpoint + separator + urlencode(asked)


def _code(authority: Authority, answer: Mapping[str, str]) -> str:
    """The authorization code of the browser's answer, which has to be from this issuer (RFC 9207)."""
    where, issuer = host_of(authority.issuer), answer.get("iss")
    says_iss = getattr(authority.metadata, "authorization_response_iss_parameter_supported", None) is True
    if issuer is None and says_iss:
        raise AuthError(f"the browser came back without saying from whom, which {where} always says: refused")
    if issuer is not None and issuer != authority.issuer:
        raise AuthError(
            f"the browser came back from another issuer, {issuer[:200]!r}, not from {where}: refused"
        )
    if error := answer.get("error"):
        description = answer.get("error_description", "")
        said = f"{error[:100]}: {description[:300]}" if description else error[:100]
        raise AuthError(f"{where} did not sign you in ({said})")
    if not (code := answer.get("code", "")):
        raise AuthError(f"the browser came back from {where} without a code")
    return code
