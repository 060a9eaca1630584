"""Bearer tokens: static ones, and those of an OAuth 2.1 authorization server.

MCP 2026-07-28, basic/authorization: over HTTP the server is a resource server. ``guard`` asks an ``Auth``
about each request; ``auth_of`` makes one of a config.
"""

from __future__ import annotations

from ._auth import UNVERIFIED, Auth, Authenticator
from ._build import auth_of, auth_of_token
from ._principal import PRINCIPAL
from ._tokens import hashed

__all__ = ["PRINCIPAL", "UNVERIFIED", "Auth", "Authenticator", "auth_of", "auth_of_token", "hashed"]
