"""Telling the SDK whose request it is: its HTTP+SSE sessions then belong to whoever opened them."""

from __future__ import annotations

from ....http_server.asgi import Scope
from ....http_server.auth._principal import PRINCIPAL


def tell_sdk(scope: Scope) -> None:
    """Put the request's principal where the SDK looks for it. Imports ``mcp``."""
    principal: bytes | None = scope.get(PRINCIPAL)
    if principal is None:
        return
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    token = AccessToken(token="", client_id=principal.decode("utf-8", "replace"), scopes=[])
    scope["user"] = AuthenticatedUser(token)
