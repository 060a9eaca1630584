"""``WWW-Authenticate`` challenges and the resource metadata that they point to (RFC 6750, RFC 9728)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ..asgi import (
    Receive,
    RefusedResponse,
    Scope,
    Send,
    send_json,
)

WELL_KNOWN = "/.well-known/oauth-protected-resource"


class Challenges:
    """The refusals of 401 and 403.

    ``needs`` are the scopes that each path needs. With ``issuer``, the resources have metadata that
    names it as their authorization server; ``public_url`` is where clients reach the server, by default
    ``http`` at the host that the request names, which the guard has checked.
    """

    def __init__(
        self, needs: Mapping[str, frozenset[str]], issuer: str | None = None, public_url: str | None = None
    ) -> None:
        self._needs = needs
        self._issuer = issuer
        self._public_url = public_url

    def unauthorized(self, scope: Scope, *, presented: bool) -> RefusedResponse:
        """401, for a request without a token, or with one (``presented``) that is not good."""
        message = "The bearer token is not good" if presented else "A bearer token is needed"
        return RefusedResponse(401, message, (self._header(scope, "invalid_token" if presented else None),))

    def forbidden(self, scope: Scope, needed: Iterable[str]) -> RefusedResponse:
        """403, for a token that is good, but not for this."""
        asked = " ".join(sorted(needed))
        message = f"The token lacks scopes: {asked} are needed here" if asked else "The token is not for this"
        return RefusedResponse(403, message, (self._header(scope, "insufficient_scope"),))

    def documents(self) -> frozenset[str]:
        """The paths of the metadata; none without an issuer."""
        if self._issuer is None:
            return frozenset()
        return frozenset({WELL_KNOWN, *(WELL_KNOWN + path for path in self._needs)})

    async def document(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """An app: the metadata of a protected resource (RFC 9728, 3)."""
        if scope["method"] not in ("GET", "HEAD"):
            await RefusedResponse(405, "Method not allowed", ((b"allow", b"GET, HEAD"),)).send(send)
            return
        path = scope["path"].removeprefix(WELL_KNOWN)
        metadata = {
            "resource": self._base(scope) + (path or "/mcp"),
            "authorization_servers": [self._issuer],
            "bearer_methods_supported": ["header"],
        }
        if scopes := sorted(self._needs.get(path or "/mcp", ())):
            metadata["scopes_supported"] = scopes
        await send_json(send, 200, json.dumps(metadata).encode(), head=scope["method"] == "HEAD")

    def _header(self, scope: Scope, error: str | None) -> tuple[bytes, bytes]:
        """``WWW-Authenticate``. Of the request only a host and a path that are known are repeated."""
        path = scope["path"] if scope["path"] in self._needs else ""
        auth_params: dict[str, str] = {}
        if self._issuer is not None:
            auth_params["resource_metadata"] = self._base(scope) + WELL_KNOWN + path
        if scopes := " ".join(sorted(self._needs.get(path, ()))):
            auth_params["scope"] = scopes
        if error is not None:
            auth_params["error"] = error
        value = "Bearer " + ", ".join(f'{name}="{text}"' for name, text in auth_params.items())
        return b"www-authenticate", value.strip().encode()

    def _base(self, scope: Scope) -> str:
        if self._public_url is not None:
            return self._public_url
        host: bytes = dict(scope["headers"]).get(b"host", b"localhost")
        return f"http://{host.decode('ascii')}"
