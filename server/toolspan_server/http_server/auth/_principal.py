"""Who a token stands for, and what it may do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

PRINCIPAL = "toolspan.principal"
"""The key of an ASGI scope that holds ``Principal.id``: sessions, tasks and states belong to it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The identity that a token was issued to.

    ``id`` identifies the principal: ``token NAME``, or ``oauth ISSUER SUBJECT``. ``until`` is when the token
    ends or is to be checked again, in seconds since 1970. ``endpoint`` is the only path that it is good for,
    if there is one.
    """

    id: bytes
    scopes: frozenset[str] = frozenset()
    until: float = math.inf
    endpoint: str | None = None


class TokenRejected(Exception):
    """A token is invalid. The message gives the reason without quoting the token."""


class KeysUnavailable(Exception):
    """No token can be verified now: the issuer's keys are not available. The message says why."""


def with_implied(scopes: frozenset[str], implies: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """``scopes`` and every scope that they include, also by way of others.

    MCP 2026-07-28, basic/authorization: servers MUST account for scope hierarchies.
    """
    found: set[str] = set()
    left = list(scopes)
    while left:
        if (scope := left.pop()) not in found:
            found.add(scope)
            left += implies.get(scope, ())
    return frozenset(found)
