"""A connection to an upstream for each principal, with tokens of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from ...calls.caller import Origin
from ...common.supervision import kept
from ...engines.upstreams import Bounds, Connection, NotAuthorized, Restarts, ServerGone

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from ...engines.upstreams import ServerSpec
    from ._client_relay import ClientRelay
    from ._token_exchange import ExchangedToken, TokenEndpoint
    from ._upstream_config import UpstreamConfig

MOST_CONNECTIONS = 500
"""Principals that are connected to one upstream at the same time; beyond that the one that called longest
ago, and has no call under way, is disconnected."""

IDLE_SECONDS = 300.0
"""How long the connection of a principal is kept after its last call."""

_OF_ISSUER = '["oauth", '
_ONLY_ONCE = Restarts(most=0)
"""A lost connection is made again when its principal calls: nobody else may use its token."""


@dataclass(slots=True)
class _Signed:
    relay: ClientRelay
    token: ExchangedToken
    connection: Connection | None = None
    used_at: float = 0.0


class PrincipalConnections:
    """The connections to the upstream of ``spec``, each made when its principal calls, and ended
    ``idle_seconds`` after it did last. Each has its own relay of ``new_relay``, so that what the upstream
    says and asks for one principal reaches no other. ``needs_tools`` says whether a session has to know the
    upstream's tools to call them."""

    def __init__(
        self,
        spec: ServerSpec,
        config: UpstreamConfig,
        new_relay: Callable[[], ClientRelay],
        needs_tools: Callable[[], bool],
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        headers = {name: value for name, value in spec.headers.items() if name.lower() != "authorization"}
        self._spec = replace(spec, headers=headers, secrets=spec.secrets | frozenset(spec.headers.values()))
        self._config = config
        self._new_relay = new_relay
        self._needs_tools = needs_tools
        self._idle_seconds = idle_seconds
        self._endpoint: TokenEndpoint | None = None
        self._known: OrderedDict[str, _Signed] = OrderedDict()
        self._tasks: TaskGroup | None = None
        self._context = Context()

    def __len__(self) -> int:
        """How many principals are connected, or about to be."""
        return len(self._known)

    async def run(self) -> None:
        """Keep the connections until cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks, self._context = tasks, copy_context()
                while True:
                    await anyio.sleep(self._idle_seconds / 4)
                    self._end_idle(anyio.current_time() - self._idle_seconds)
        finally:
            self._tasks = None
            for signed in self._known.values():
                signed.relay.end()

    def relay_of_caller(self, origin: Origin) -> ClientRelay | None:
        """The relay of the principal of ``origin``; ``None`` for one whose token cannot be exchanged.

        Raises ``ServerGone`` when too many others have calls under way.
        """
        principal = origin.principal or ""
        if not principal.startswith(_OF_ISSUER) or not origin.bearer:
            return None
        return self._of(principal).relay

    async def of_caller(self, origin: Origin) -> Connection:
        """The connection of the principal of ``origin``.

        Raises ``NotAuthorized`` for one without a token that can be exchanged, and ``ServerGone``.
        """
        principal, bearer = origin.principal or "", origin.bearer
        if not principal.startswith(_OF_ISSUER) or not bearer:
            raise NotAuthorized(
                f"the server {self._spec.name!r} is called as the caller, whose token is exchanged for "
                "one of its own: call with a token of the issuer in auth.oauth"
            )
        signed = self._of(principal)
        signed.token.use(bearer)
        connection = signed.connection
        if connection is None or (connection.ready.is_set() and not connection.is_up):
            connection = signed.connection = self._begun(signed)
        await connection.ready.wait()
        if (failure := connection.failure) is not None:
            if failure.needs_sign_in:
                raise NotAuthorized(failure.reason)
            raise ServerGone(f"server {self._spec.name!r} is gone", failure.reason)
        return connection

    def _of(self, principal: str) -> _Signed:
        """What is kept for ``principal``, which calls now."""
        signed = self._known.get(principal)
        if signed is None:
            from ._token_exchange import ExchangedToken, TokenEndpoint

            self._make_room()
            exchange = self._config.token_exchange
            assert exchange is not None, "without it no principal has a connection of its own"
            self._endpoint = self._endpoint or TokenEndpoint(self._spec.name, exchange)
            signed = self._known[principal] = _Signed(self._new_relay(), ExchangedToken(self._endpoint))
        self._known.move_to_end(principal)
        signed.used_at = anyio.current_time()
        return signed

    def _begun(self, signed: _Signed) -> Connection:
        if (tasks := self._tasks) is None:
            raise ServerGone(f"server {self._spec.name!r} is not connected any more")
        if signed.connection is not None:
            signed.connection.stop()
        connection = Connection(
            replace(self._spec, authorization=signed.token),
            self._config.connect_seconds,
            restarts=_ONLY_ONCE,
            bounds=Bounds(self._config.max_tools, self._config.max_pages),
            listener=signed.relay,
            tools="read" if self._needs_tools() else "unread",
        )
        work = kept("a principal's connection to an upstream", connection.run)
        self._context.run(tasks.start_soon, work)  # what it hears belongs to no call of before
        return connection

    def _make_room(self) -> None:
        while len(self._known) >= MOST_CONNECTIONS:
            idle = next((name for name, each in self._known.items() if each.relay.is_idle), None)
            if idle is None:
                what = f"server {self._spec.name!r} has calls of {MOST_CONNECTIONS} principals under way"
                raise ServerGone(what)
            self._end(idle)

    def _end_idle(self, before: float) -> None:
        for name, signed in list(self._known.items()):
            if signed.used_at < before and signed.relay.is_idle:
                self._end(name)

    def _end(self, principal: str) -> None:
        signed = self._known.pop(principal)
        signed.relay.end()
        if signed.connection is not None:
            signed.connection.stop()
