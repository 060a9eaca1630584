"""Signed tokens that say who somebody is, in place of a sign-in (RFC 7523, section 2.1): a workload's own, or
one that a company's identity provider gives for a person (Identity Assertion JWT Authorization Grant)."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from toolspan_server.engines.upstreams import ServerSpec
from toolspan_server.schema.oauth_client import IdentityProviderConfig, OAuthClientConfig

from ..errors import AuthError
from ._addresses import host_of, known_as
from ._requests import Requests
from .by_person import signed_in_by_person
from .discovery import Authority, identity_provider
from .person import SignInRequest, SignInWay
from .registration import configured
from .sign_in import SignIn
from .store import SignInStore
from .tokens import TokenRefused, authenticate, granted, refusal

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_LONGEST = 65_536
_EARLY_SECONDS = 10


async def assertion_for(
    requests: Requests,
    authority: Authority,
    spec: ServerSpec,
    scopes: tuple[str, ...],
    way: SignInWay,
    store: SignInStore,
) -> str:
    """What ``authority`` is shown for a token for the server of ``spec``. Raises ``AuthError`` when there is
    none, and ``StoreError``."""
    assert spec.oauth is not None, "only a config asks for it"
    if spec.oauth.assertion_file is not None:
        return _read(spec, spec.oauth.assertion_file)
    assert spec.oauth.identity_provider is not None, "the config's check wants one of them"
    people = _People(requests, spec, spec.oauth.identity_provider, way, store)
    return await people.assertion(authority, scopes)


class _People:
    """The people who are signed in at an identity provider. One sign-in there serves for all MCP servers."""

    def __init__(
        self,
        requests: Requests,
        spec: ServerSpec,
        provider: IdentityProviderConfig,
        way: SignInWay,
        store: SignInStore,
    ) -> None:
        self._requests = requests
        self._spec = spec
        self._provider = provider
        self._way = way
        self._store = store
        self._name = known_as(provider.issuer)
        self._settings = OAuthClientConfig(
            client_id=provider.client_id,
            client_secret=provider.client_secret,
            callback_port=spec.oauth.callback_port if spec.oauth is not None else None,
        )

    async def assertion(self, authority: Authority, scopes: tuple[str, ...]) -> str:
        """The ID-JAG for ``authority``, by the ID token that is there or that the person brings."""
        idp = await identity_provider(self._requests, self._provider.issuer)
        if self._provider.id_token_file is not None:
            token = _read(self._spec, self._provider.id_token_file)
            return await self._exchanged(idp, token, authority, scopes)
        if token := await self._kept(idp):
            try:
                return await self._exchanged(idp, token, authority, scopes)
            except TokenRefused as refused:
                if refused.error != "invalid_grant":
                    raise
        signed = await self._signed_in(idp)
        return await self._exchanged(idp, signed.id_token, authority, scopes)

    async def _kept(self, idp: Authority) -> str:
        """The ID token of an earlier sign-in, renewed if it has ended; empty when there is none."""
        kept = await self._store.load(self._name)
        if kept is None or kept.client.client_id != self._provider.client_id:
            return ""
        if self._is_good(kept.id_token) or not kept.refresh_token:
            return kept.id_token if self._is_good(kept.id_token) else ""
        with anyio.CancelScope(shield=True):  # a token that was exchanged and then not kept would be lost
            async with self._store.renewing(self._name):
                kept = await self._store.load(self._name) or kept
                if not self._is_good(kept.id_token):
                    kept = await self._renewed(idp, kept)
        return kept.id_token

    async def _renewed(self, idp: Authority, kept: SignIn) -> SignIn:
        grant = {"grant_type": "refresh_token", "refresh_token": kept.refresh_token}
        client = replace(kept.client, secret=self._provider.client_secret or "")
        try:
            signed = replace(kept, client=client, token_endpoint=idp.token_endpoint, id_token="")
            renewed = await granted(self._requests, signed, grant, self._settings)
        except TokenRefused as refused:
            if refused.error != "invalid_grant":
                raise
            renewed = kept.without_tokens()
        await self._keep(renewed)
        return renewed if self._is_good(renewed.id_token) else renewed.without_tokens()

    async def _signed_in(self, idp: Authority) -> SignIn:
        """Have the person sign in at the identity provider (OpenID Connect)."""
        if self._way.person is None:
            raise AuthError(
                f"nobody is signed in at {host_of(idp.issuer)}, the identity provider "
                f"(run: toolspan servers login {self._spec.name})"
            )
        renews = idp.lists("scopes_supported", "offline_access")
        scopes = ("openid", "offline_access") if renews else ("openid",)
        request = SignInRequest(self._spec.name, known_as(self._spec.url), idp.issuer, scopes)
        signed = await signed_in_by_person(self._requests, idp, self._settings, self._way, request, None)
        if not self._is_good(signed.id_token):
            raise AuthError(f"{host_of(idp.issuer)} signed you in without a usable ID token")
        await self._keep(signed)
        return signed

    async def _keep(self, signed: SignIn) -> None:
        client = replace(signed.client, secret="")
        await self._store.save(replace(signed, server=self._name, client=client))

    def _is_good(self, token: str) -> bool:
        """Whether ``token`` says that the identity provider signed somebody in to this client, until now.

        Its signature needs no check: it came from the token endpoint itself (OpenID Connect Core, section
        3.1.3.7).
        """
        claims = _claims(token)
        audience: list[str] | str | None = claims.get("aud")
        ends = claims.get("exp")
        audiences = audience if isinstance(audience, list) else [audience]
        issuer = str(claims.get("iss", "")).rstrip("/")
        return (
            issuer == self._provider.issuer.rstrip("/")
            and self._provider.client_id in audiences
            and isinstance(ends, int | float)
            and ends > time.time() + _EARLY_SECONDS
        )

    async def _exchanged(
        self, idp: Authority, token: str, authority: Authority, scopes: tuple[str, ...]
    ) -> str:
        """The ID-JAG for the ID token ``token``: RFC 8693."""
        client = configured(idp, self._settings)
        assert client is not None, "the config wants its id"
        form = {
            "grant_type": _EXCHANGE,
            "requested_token_type": _ID_JAG,
            "audience": authority.issuer,
            "resource": authority.resource,
            "subject_token": token,
            "subject_token_type": _ID_TOKEN,
        }
        if scopes:
            form["scope"] = " ".join(scopes)
        headers = authenticate(idp.unsigned(client, ()), form, self._settings)
        reply = await self._requests.post_form(idp.token_endpoint, form, headers)
        where = host_of(idp.token_endpoint)
        if reply.status != 200:
            raise refusal(reply, idp.token_endpoint)
        if reply.data.get("issued_token_type") != _ID_JAG:
            raise AuthError(f"{where}, the identity provider, gave another token than the ID-JAG asked for")
        return _sendable(reply.data.get("access_token"), f"{where}, the identity provider, gave an ID-JAG")


def _read(spec: ServerSpec, name: str) -> str:
    path = Path(spec.cwd or "", Path(name).expanduser())
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST + 1).decode("ascii", "replace").strip()
    except OSError as error:
        raise AuthError(f"{path}, the token to sign in with, cannot be read: {error.strerror}") from None
    return _sendable(text, f"{path} holds a token")


def _sendable(token: Any, what: str) -> str:
    if not isinstance(token, str) or not 0 < len(token) <= _LONGEST:
        raise AuthError(f"{what} that is empty or too long")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise AuthError(f"{what} that cannot be one: it has spaces or other signs in it")
    return token


def _claims(token: str) -> dict[str, Any]:
    import jwt

    try:
        return dict(jwt.decode(token, options={"verify_signature": False}))
    except jwt.InvalidTokenError:
        return {}
