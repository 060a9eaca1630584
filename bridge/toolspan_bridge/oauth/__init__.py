"""Signing in to remote MCP servers by OAuth 2.1, as MCP's authorization describes it.

What is kept of a sign-in is bound to the server's URL and to the authorization server that signed in. A
person is asked before anything is opened or registered; without one, kept tokens are used and renewed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._addresses import known_as
    from .person import DeviceCode, SignInPerson, SignInRequest, SignInWay
    from .servers import authorized
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

# Imported when first used: a server that is a process has no sign-in.
_MODULES = {
    "DeviceCode": ".person",
    "KeptSignIn": ".store",
    "SignIn": ".sign_in",
    "SignInPerson": ".person",
    "SignInRequest": ".person",
    "SignInStore": ".store",
    "SignInWay": ".person",
    "authorized": ".servers",
    "known_as": "._addresses",
}

if not TYPE_CHECKING:
    from toolspan_server.common.lazy_exports import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__, _MODULES)
