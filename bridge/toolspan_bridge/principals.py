"""Who a session, a call or a request is made for: principals, as texts.

A principal is ``local`` where no token is asked for, ``token`` for that of ``--token-env``, ``token NAME``
and ``oauth …`` for those of the config's ``auth``, ``key NAME`` for a virtual key of the gateway. Edges make
one (the command line, a request's token); everything below is handed it.
"""

from __future__ import annotations

LOCAL_USER = "local"
"""The person at this machine."""

PRINCIPAL_META = "dev.toolspan/principal"
"""The key of a request's ``_meta`` by which a server of our own knows whom it is made for. No other is sent
it."""

_OPERATORS = (LOCAL_USER, "token")


def is_operator(principal: str) -> bool:
    """Whether the machine is theirs, so that they may see the config and what everybody does: whoever comes
    where no token is needed, and whoever has the token of ``--token-env``."""
    return principal in _OPERATORS
