"""A sign-in that a person asked for, and its end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import anyio

from toolspan_server.engines.upstreams import Connection, Restarts, ServerSpec
from toolspan_server.schema.oauth_client import OAuthClientConfig

from ..errors import AuthError, UnreachableError
from ._addresses import host_of, known_as
from ._requests import requests
from .authorization import ServerAuthorization
from .person import SignInWay
from .sign_in import SignIn
from .store import Place, SignInStore
from .tokens import authenticate


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in that was made, where it is kept, and how many tools the server has for it."""

    sign_in: SignIn
    place: Place
    tools: int


async def login(spec: ServerSpec, way: SignInWay, store: SignInStore, seconds: float) -> SignedIn:
    """Sign in to the server of ``spec`` in ``way``, and see that it lets us in, which may take ``seconds``.

    Raises ``AuthError``, and ``UnreachableError`` when the server cannot be used for another reason.
    """
    authorization = ServerAuthorization(spec, store, way)
    connection = Connection(replace(spec, authorization=authorization), seconds, restarts=Restarts(most=0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        await connection.ready.wait()
        connection.stop()
    if (failure := connection.failure) is not None:
        kind = AuthError if failure.needs_sign_in else UnreachableError
        raise kind(f"{spec.name}: {failure.reason}")
    if authorization.made is None:
        await authorization.sign_in()  # it lets everybody in, but may give more to some
    assert authorization.made is not None, "a sign-in succeeds or raises"
    return SignedIn(*authorization.made, tools=len(connection.tools))


async def logout(spec: ServerSpec, store: SignInStore) -> tuple[bool, str]:
    """Forget the sign-in to the server of ``spec``, and have its tokens revoked (RFC 7009) where that can be.

    Whether there was one; and why its tokens may still be good, if they may. Raises ``StoreError``.
    """
    server = known_as(spec.url)
    signed = await store.load(server)
    was_there = await store.forget(server)
    if signed is None or not (signed.access_token or signed.refresh_token):
        return was_there, ""
    if not signed.revocation_endpoint:
        return was_there, f"{host_of(signed.issuer)} has no way to revoke them"
    settings = spec.oauth or OAuthClientConfig()
    if signed.client.origin == "config":
        signed = replace(signed, client=replace(signed.client, secret=settings.client_secret or ""))
    try:
        async with requests(server, settings) as asking:
            for kind in ("refresh_token", "access_token"):
                if token := getattr(signed, kind):
                    form = {"token": token, "token_type_hint": kind}
                    headers = authenticate(signed, form, settings)
                    reply = await asking.post_form(signed.revocation_endpoint, form, headers)
                    if reply.status != 200:
                        return was_there, f"{host_of(signed.issuer)} answered HTTP {reply.status}"
    except AuthError as error:
        return was_there, error.message
    return was_there, ""
