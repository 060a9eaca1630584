"""Requests to a token endpoint: every grant, and how the client authenticates itself."""

from __future__ import annotations

import secrets
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of
from ._requests import Reply, Requests
from .proofs import proof
from .sign_in import Client, SignIn, expiry

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 300
_LONGEST_TOKEN = 65_536


class TokenRefused(AuthError):
    """The authorization server gives no token; ``error`` is its code, such as ``invalid_grant``."""

    def __init__(self, message: str, error: str) -> None:
        super().__init__(message)
        self.error = error


async def granted(
    requests: Requests, signed: SignIn, grant: Mapping[str, str], settings: OAuthClientConfig
) -> SignIn:
    """``signed`` with the tokens that its token endpoint gives for ``grant``.

    Raises ``TokenRefused``, and ``AuthError`` when there is no good answer.
    """
    form = dict(grant)
    if signed.resource:
        form["resource"] = signed.resource
    reply = await _asked(requests, signed, form, settings)
    if reply.data.get("error") == "use_dpop_nonce" and reply.nonce:
        reply = await _asked(requests, signed, form, settings, reply.nonce)
    if reply.status not in (200, 201):
        raise refusal(reply, signed.token_endpoint)
    return _with_tokens(signed, reply.data)


async def _asked(
    requests: Requests, signed: SignIn, form: Mapping[str, str], settings: OAuthClientConfig, nonce: str = ""
) -> Reply:
    """The answer of the token endpoint, with a proof of the key that the tokens are to be bound to."""
    whole, endpoint = dict(form), signed.token_endpoint
    headers = authenticate(signed, whole, settings)
    if signed.proof_key:
        headers["DPoP"] = proof(signed.proof_key, "POST", endpoint, nonce=nonce)
    return await requests.post_form(endpoint, whole, headers)


def authenticate(signed: SignIn, form: dict[str, str], settings: OAuthClientConfig) -> dict[str, str]:
    """Put the client's authentication into ``form``; the headers to send with it."""
    client = signed.client
    if client.method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(client.secret, safe='')}"
        return {"Authorization": "Basic " + b64encode(pair.encode()).decode()}
    form["client_id"] = client.client_id
    if client.method == "client_secret_post":
        form["client_secret"] = client.secret
    elif client.method == "private_key_jwt":
        form["client_assertion_type"] = _ASSERTION
        form["client_assertion"] = _assertion(client, settings.private_key or "", signed.issuer)
    return {}


def refusal(reply: Reply, endpoint: str) -> TokenRefused:
    """The error of an answer that is none of 200."""
    error, description = (_text(reply.data.get(key)) for key in ("error", "error_description"))
    said = f"{error}: {description}" if error and description else error or f"HTTP {reply.status}"
    if reply.status >= 500 or reply.status == 429:
        error = ""
    return TokenRefused(f"{host_of(endpoint)} gives no token ({said})", error)


def _with_tokens(signed: SignIn, data: Mapping[str, Any]) -> SignIn:
    token, kind = data.get("access_token"), data.get("token_type", "Bearer")
    where = host_of(signed.token_endpoint)
    if not isinstance(token, str) or not token or len(token) > _LONGEST_TOKEN or not token.isascii():
        raise AuthError(f"{where} answered without a usable access_token")
    if not token.isprintable() or " " in token:
        raise AuthError(f"{where} gave a token that cannot be sent in a header")
    types = ("bearer", "dpop") if signed.proof_key else ("bearer",)
    if not isinstance(kind, str) or kind.lower() not in types:
        raise AuthError(f"{where} gave a token of type {_text(kind)!r}, which was not asked for")
    said = data.get("id_token") if not signed.resource else None  # only an identity provider's is of use
    renewal, scope = data.get("refresh_token"), data.get("scope")
    return replace(
        signed,
        access_token=token,
        refresh_token=renewal if isinstance(renewal, str) and renewal else signed.refresh_token,
        proof_key=signed.proof_key if kind.lower() == "dpop" else "",
        id_token=said if isinstance(said, str) and len(said) <= _LONGEST_TOKEN else signed.id_token,
        expires_at=expiry(_seconds(data.get("expires_in"))),
        scopes=tuple(scope.split()) if isinstance(scope, str) and scope.split() else signed.scopes,
    )


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < 1e10 else None


def _assertion(client: Client, key: str, issuer: str) -> str:
    """A JWT that the client signs (RFC 7523); its audience is the issuer (RFC 7523bis)."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(key.encode(), None)
    except (ValueError, TypeError) as error:
        raise AuthError(
            f"the private_key of the client {client.client_id!r} cannot be read: {error}"
        ) from None
    curves = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
    match private:
        case rsa.RSAPrivateKey():
            algorithm = "RS256"
        case ed25519.Ed25519PrivateKey():
            algorithm = "EdDSA"
        case ec.EllipticCurvePrivateKey(curve=curve) if curve.name in curves:
            algorithm = curves[curve.name]
        case _:
            raise AuthError(
                f"the private_key of the client {client.client_id!r} is of a kind that signs no JWT"
            )
    now = int(time.time())
    claims = {"iss": client.client_id, "sub": client.client_id, "aud": issuer, "iat": now}
    claims |= {"exp": now + _ASSERTION_SECONDS, "jti": secrets.token_urlsafe(16)}
    return jwt.encode(claims, private, algorithm=algorithm)


def _text(value: Any) -> str:
    return value[:300] if isinstance(value, str) else ""
