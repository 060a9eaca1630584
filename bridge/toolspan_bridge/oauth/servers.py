"""Servers as they are connected to: with sign-ins, where they have none of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolspan_server.engines.upstreams import ServerSpec

if TYPE_CHECKING:
    from .person import SignInWay
    from .store import SignInStore


def authorized(spec: ServerSpec, way: SignInWay, store: SignInStore | None = None) -> ServerSpec:
    """``spec`` with sign-ins, by default those of the user's ``store``. A server that is no URL, or has
    credentials in its headers or its URL, stays as it is.
    """
    if spec.kind == "stdio" or spec.problem or spec.authorization is not None:
        return spec
    if any(name.lower() == "authorization" for name in spec.headers) or "@" in spec.url.split("/")[2]:
        return spec
    from .authorization import ServerAuthorization
    from .store import SignInStore

    return replace(spec, authorization=ServerAuthorization(spec, store or SignInStore(), way))
