"""Authorizes the requests to one MCP server: with the tokens that are kept, renewed, or of a new sign-in.

The SDK's own provider is not used whole: it lets one request wait for the answer to another, knows neither
when a kept token ends nor who may renew it, and asks a person anew where a renewal would do.
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import AsyncGenerator
from dataclasses import replace
from urllib.parse import urlsplit

import anyio
import httpx2
from typing_extensions import override

from toolspan_server.engines.upstreams import ServerSpec, refuse, waiting_for_a_person
from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError, BridgeError
from ._addresses import host_of, known_as, origin
from .challenge import Challenge, challenge_of
from .person import SignInWay
from .sign_in import SignIn
from .store import Place, SignInStore

_log = logging.getLogger(__name__)

_MOST_ANSWERS = 3
"""To one request: a renewal, a sign-in, and one with more scopes."""


class ServerAuthorization(httpx2.Auth):
    """The authorization for the server of ``spec``. Its failures are no exceptions: the server's 401 or 403
    stays, and the reason is said to whoever asked (``refuse``)."""

    def __init__(self, spec: ServerSpec, store: SignInStore, way: SignInWay) -> None:
        self._spec = spec
        self._server = known_as(spec.url)
        self._settings = spec.oauth or OAuthClientConfig()
        self._store = store
        self._way = way
        self._lock = anyio.Lock()
        self._signed: SignIn | None = None
        self._kept: SignIn | None = None
        self._is_loaded = False
        self.made: tuple[SignIn, Place] | None = None
        """The last sign-in that was made here, by a person or the client itself, and where it is kept."""
        self._asked: set[str] = set()
        self._was_taken = False
        self._refused: dict[frozenset[str], str] = {}
        self._nonce = ""

    @override
    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if origin(str(request.url)) != origin(self._spec.url) and not self._is_upgrade(request.url):
            yield request
            return
        used = await self._ready()
        may_ask = request.method == "POST" or self._spec.kind == "sse"
        for count in range(_MOST_ANSWERS + 1):
            self._authorize(request, used)
            response = yield request
            if self._wants_nonce(response):
                self._authorize(request, used)
                response = yield request
            challenge = challenge_of(response)
            if challenge is None or challenge.wants_nonce or count == _MOST_ANSWERS:
                self._was_taken |= response.is_success
                return
            signed = await self._answered(challenge, used, may_renew=count == 0, may_ask=may_ask)
            if signed is None:
                return
            used = signed

    def _authorize(self, request: httpx2.Request, signed: SignIn | None) -> None:
        for name in ("Authorization", "DPoP"):
            request.headers.pop(name, None)
        if signed is None:
            return
        token, key = signed.access_token, signed.proof_key
        if not key:
            request.headers["Authorization"] = f"Bearer {token}"
            return
        from .proofs import proof

        try:
            proven = proof(key, request.method, str(request.url), token=token, nonce=self._nonce)
        except AuthError as error:
            refuse(error.message)
            return
        request.headers |= {"Authorization": f"DPoP {token}", "DPoP": proven}

    def _wants_nonce(self, response: httpx2.Response) -> bool:
        """Whether to make the request again with the nonce of ``response``, which is used from now on."""
        given = response.headers.get("DPoP-Nonce", "")
        is_new, self._nonce = given not in ("", self._nonce), given or self._nonce
        challenge = challenge_of(response)
        return is_new and challenge is not None and challenge.wants_nonce

    async def _ready(self) -> SignIn | None:
        """The sign-in, renewed if it is about to end. What goes wrong shows in the server's answer."""
        if self._is_loaded and (self._signed is None or self._signed.is_fresh):
            return self._signed
        async with self._lock:
            try:
                if not self._is_loaded:
                    self._kept = None if self._way.anew else await self._store.load(self._server)
                    self._signed = self._kept if self._kept and self._kept.access_token else None
                    self._is_loaded = True
                if self._signed is not None and not self._signed.is_fresh:
                    await self._renewed(self._signed)
            except BridgeError as error:
                _log.debug("server %r: the kept sign-in", self._spec.name, exc_info=error)
                refuse(error.message)
            return self._signed

    async def _answered(
        self, challenge: Challenge, used: SignIn | None, *, may_renew: bool, may_ask: bool
    ) -> SignIn | None:
        """Another sign-in than ``used``, with which the request may succeed; ``None`` when there is none."""
        with waiting_for_a_person():
            async with self._lock:
                if self._signed is not None and self._signed != used:
                    return self._signed  # of another request, meanwhile
                try:
                    renews = may_renew and not challenge.wants_more
                    renewed = await self._renewed(used) if used is not None and renews else None
                except BridgeError as error:
                    refuse(error.message)
                    return None
                if renewed is not None:
                    return renewed
                return await self._signed_in(challenge) if may_ask else None

    async def _renewed(self, used: SignIn) -> SignIn | None:
        """Tokens in place of ``used``, if the authorization server gives them without a person.

        Only one process asks: the others find what it was given. Raises ``AuthError``, ``StoreError``.
        """
        renewed: SignIn | None = None
        with anyio.CancelScope(shield=True):  # a token that was exchanged and then not kept would be lost
            async with self._store.renewing(self._server):
                kept = await self._store.load(self._server)
                if kept is None:  # somebody signed out meanwhile
                    self._signed = self._kept = None
                elif kept.is_fresh and kept.access_token != used.access_token:
                    renewed = self._signed = self._kept = kept
                elif kept.refresh_token:
                    renewed = await self._exchanged(self._with_secret(kept))
        return renewed

    async def _exchanged(self, signed: SignIn) -> SignIn | None:
        """The tokens for the refresh token of ``signed``; ``None`` when it is not taken any more."""
        from ._requests import requests
        from .tokens import TokenRefused, granted

        grant = {"grant_type": "refresh_token", "refresh_token": signed.refresh_token}
        try:
            async with requests(self._server, self._settings) as asking:
                renewed = await granted(asking, signed, grant, self._settings)
        except TokenRefused as refused:
            if refused.error not in ("invalid_grant", "invalid_client", "unauthorized_client"):
                raise
            await self._end(signed, keep_client=refused.error == "invalid_grant")
            return None
        await self._keep(renewed)
        return renewed

    async def _signed_in(self, challenge: Challenge) -> SignIn | None:
        """A new sign-in, by the person or by the client's own credentials, unless one failed before."""
        wanted = frozenset(challenge.scopes)
        try:
            if wanted not in self._refused:
                self._require_use(challenge, wanted)
                return await self.sign_in(challenge)
        except BridgeError as error:
            self._refused[wanted] = error.message
        refuse(self._refused[wanted])
        return None

    def _require_use(self, challenge: Challenge, wanted: frozenset[str]) -> None:
        """Raise ``AuthError`` when nobody can sign in, or it would not help."""
        is_in_vain = wanted <= self._asked if challenge.wants_more else self.made and not self._was_taken
        if challenge.wants_more and not wanted:
            raise AuthError(f"{self._host} wants more scopes for this, but does not say which")
        if is_in_vain:
            raise AuthError(f"{self._host} does not take the sign-in that it was just given ({self._hint})")
        if self._way.person is None and self._settings.grant == "authorization_code":
            raise AuthError(self._demand(challenge))

    async def sign_in(self, challenge: Challenge | None = None) -> SignIn:
        """Sign in, as the server's ``challenge`` wants it. Raises ``BridgeError``."""
        from .flow import sign_in

        asked = challenge or Challenge()
        signed = await sign_in(self._spec, asked, self._kept, self._way, self._store)
        self._asked |= {*signed.scopes, *asked.scopes}
        self._was_taken = False
        self.made = signed, await self._keep(signed)
        return signed

    async def _keep(self, signed: SignIn) -> Place:
        self._signed = self._kept = signed
        if signed.client.origin != "config":
            return await self._store.save(signed)
        return await self._store.save(replace(signed, client=replace(signed.client, secret="")))

    async def _end(self, signed: SignIn, *, keep_client: bool) -> None:
        """The tokens are not taken any more."""
        self._signed = None
        self._kept = signed.without_tokens() if keep_client else None
        if self._kept is None:
            await self._store.forget(self._server)
        else:
            await self._store.save(self._kept)

    def _with_secret(self, signed: SignIn) -> SignIn:
        """``signed`` with the secret of its client, where that is the config's, which is not kept."""
        if signed.client.origin != "config":
            return signed
        if signed.client.client_id != self._settings.client_id:
            return replace(signed, refresh_token="")
        return replace(signed, client=replace(signed.client, secret=self._settings.client_secret or ""))

    def _demand(self, challenge: Challenge) -> str:
        if challenge.wants_more:
            return (
                f"{self._host} wants a sign-in with the scopes {', '.join(challenge.scopes)} ({self._hint})"
            )
        if challenge.asks_for_token:
            return f"{self._host} wants a sign-in ({self._hint})"
        address = str(httpx2.URL(self._spec.url).copy_with(userinfo=b"", query=None, fragment=None))
        return (
            f'{address} answered HTTP 401 (set the credentials that it wants in "headers", or {self._hint})'
        )

    @property
    def _host(self) -> str:
        return host_of(self._spec.url)

    @property
    def _hint(self) -> str:
        named = self._spec.name if urlsplit(self._spec.url).query else self._server
        return f"run: toolspan servers login {shlex.quote(named)}"

    def _is_upgrade(self, url: httpx2.URL) -> bool:
        """Whether ``url`` is the server's host by https where its own is http, both on their usual ports."""
        own = httpx2.URL(self._spec.url)
        schemes, hosts, ports = zip(
            *((each.scheme, each.host, each.port) for each in (own, url)), strict=True
        )
        return schemes == ("http", "https") and hosts[0] == hosts[1] and ports == (None, None)
