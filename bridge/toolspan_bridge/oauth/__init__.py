"""Signing in to remote MCP servers by OAuth 2.1, as MCP's authorization describes it.

What is kept of a sign-in is bound to the server's URL and to the authorization server that signed in. A
person is asked before anything is opened or registered; without one, kept tokens are used and renewed.
"""

from __future__ import annotations

from dataclasses import replace

from toolspan_server.engines.upstreams import ServerSpec

from ._addresses import known_as
from .person import DeviceCode, SignInPerson, SignInRequest, SignInWay
from .sign_in import SignIn
from .store import KeptSignIn, SignInStore

__all__ = [
    "DeviceCode",
    "KeptSignIn",
    "SignIn",
    "SignInPerson",
    "SignInRequest",
    "SignInStore",
    "SignInWay",
    "authorized",
    "known_as",
]


def authorized(spec: ServerSpec, way: SignInWay, store: SignInStore | None = None) -> ServerSpec:
    """``spec`` with sign-ins, by default those of the user's ``store``. A server that is no URL, or has
    credentials in its headers or its URL, stays as it is.
    """
    if spec.kind == "stdio" or spec.problem or spec.authorization is not None:
        return spec
    if any(name.lower() == "authorization" for name in spec.headers) or "@" in spec.url.split("/")[2]:
        return spec
    from .authorization import ServerAuthorization

    return replace(spec, authorization=ServerAuthorization(spec, store or SignInStore(), way))
