"""A connection to an upstream for each principal, with tokens of its own."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from ...calls.caller import bearer_of_call, principal_of_call
from ...engines.upstreams import Connection, NotAuthorized, ServerGone

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from ...engines.upstreams import Listener, ServerSpec
    from ._token_exchange import ExchangedToken
    from ._upstream_config import UpstreamConfig

MOST_CONNECTIONS = 500
"""Principals that are connected to one upstream at the same time; beyond that the one that called longest
ago is disconnected."""

_OF_ISSUER = '["oauth", '


@dataclass(slots=True)
class _Signed:
    connection: Connection
    token: ExchangedToken


class PrincipalConnections:
    """The connections to the upstream of ``spec``, each made when its principal first calls."""

    def __init__(self, spec: ServerSpec, config: UpstreamConfig, listener: Listener) -> None:
        headers = {name: value for name, value in spec.headers.items() if name.lower() != "authorization"}
        self._spec = replace(spec, headers=headers, secrets=spec.secrets | frozenset(spec.headers.values()))
        self._config = config
        self._listener = listener
        self._known: OrderedDict[str, _Signed] = OrderedDict()
        self._tasks: TaskGroup | None = None

    async def run(self) -> None:
        """Keep the connections until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await anyio.sleep_forever()

    async def of_caller(self) -> Connection:
        """The connection of the principal that calls now.

        Raises ``NotAuthorized`` for one without a token that can be exchanged, and ``ServerGone``.
        """
        principal, bearer = principal_of_call(), bearer_of_call()
        if not principal.startswith(_OF_ISSUER) or not bearer:
            raise NotAuthorized(
                f"the server {self._spec.name!r} is called as the caller, whose token is exchanged for "
                "one of its own: call with a token of the issuer in auth.oauth"
            )
        signed = self._known.get(principal)
        if signed is None:
            signed = self._known[principal] = self._begun()
        self._known.move_to_end(principal)
        signed.token.subject = bearer
        await signed.connection.ready.wait()
        if (failure := signed.connection.failure) is not None:
            if self._known.get(principal) is signed:
                del self._known[principal]
                signed.connection.stop()
            if failure.needs_sign_in:
                raise NotAuthorized(failure.reason)
            raise ServerGone(f"server {self._spec.name!r} is gone", failure.reason)
        return signed.connection

    def _begun(self) -> _Signed:
        from ._token_exchange import ExchangedToken

        exchange = self._config.token_exchange
        assert exchange is not None and self._tasks is not None
        while len(self._known) >= MOST_CONNECTIONS:
            self._known.popitem(last=False)[1].connection.stop()
        token = ExchangedToken(self._spec.name, exchange)
        connection = Connection(
            replace(self._spec, authorization=token), self._config.connect_seconds, listener=self._listener
        )
        self._tasks.start_soon(connection.run)
        return _Signed(connection, token)
