"""The live upstreams: connected MCP servers with their listed tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio

from ...calls.caller import Origin
from ...common.slices import some
from ...common.supervision import keep_running, kept
from ...engines.definitions import DefinitionsFile
from ...engines.http_client._secrets import basic
from ...engines.upstreams import (
    Bounds,
    Connection,
    Listing,
    Restarts,
    spec_of,
)
from ...errors import ToolFailure
from ...parts.environment import Environment
from ...schema.records import is_same
from ._change_watch import ChangeWatch
from ._client_relay import ClientRelay
from ._principal_connections import PrincipalConnections
from ._upstream_catalog import Catalog

if TYPE_CHECKING:
    from ._upstream_config import UpstreamConfig

_log = logging.getLogger(__name__)

_RESTARTS = Restarts(most=float("inf"), first_pause=0.25, longest_pause=60.0, jitter=0.5, from_start=True)


class Upstream:
    """One upstream server. ``listing`` is the last list of its tools; ``None`` before the first."""

    def __init__(self, name: str, config: UpstreamConfig, environment: Environment) -> None:
        self.name = name
        self.disabled = config.disabled
        self.listing: Listing | None = None
        self.may_ask = frozenset(config.may_ask)
        self._relay = ClientRelay(name, self.may_ask)
        self.serves_resources, self.serves_prompts = config.resources, config.prompts
        self.catalog = Catalog(name)
        if config.resources or config.prompts is not None:
            self._relay.on_notice = self.catalog.notified
        self._listeners: dict[object, Callable[[], None]] = {}
        self._noticed = ChangeWatch(name, DefinitionsFile(environment.state_dir, name))
        self._last_state: tuple[str, str] = ("", "")
        self._since = datetime.now(UTC)
        self.connection = Connection(
            replace(
                spec_of(name, config, environment.config_dir, call_timeout=0),
                secrets=_secrets_of(config.url or ""),
            ),
            config.connect_seconds,
            restarts=_RESTARTS,
            bounds=Bounds(config.max_tools, config.max_pages),
            listener=self._relay,
            on_listing=self._listed,
            on_change=self._changed,
        )
        self._principals: PrincipalConnections | None = None
        if config.token_exchange is not None:
            new_relay = partial(ClientRelay, name, self.may_ask)
            self._principals = PrincipalConnections(
                self.connection.spec,
                config,
                new_relay,
                lambda: self.listing is None or self.listing.names_headers,
            )

    async def run(self) -> None:
        """Keep the connection until cancelled."""
        if self.disabled:
            return
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(kept("changes of an upstream's definitions", self._noticed.run))
                if self._principals is not None:
                    tasks.start_soon(kept("connections of principals", self._principals.run))
                if self.has_catalog:
                    tasks.start_soon(
                        kept("an upstream's catalog", partial(self.catalog.keep, self.connection))
                    )
                await keep_running("a connection to an upstream", self.connection.run)
                tasks.cancel_scope.cancel()
        finally:
            self._relay.end()

    async def connection_of_caller(self, origin: Origin) -> Connection:
        """The connection for the principal of ``origin``: where tokens are exchanged, one of its own.

        Raises ``NotAuthorized`` where it has no token for that, and ``ServerGone``.
        """
        return self.connection if self._principals is None else await self._principals.of_caller(origin)

    def relay_of_caller(self, origin: Origin) -> ClientRelay:
        """The relay of the connection of the principal of ``origin``. Raises ``ServerGone``."""
        own = None if self._principals is None else self._principals.relay_of_caller(origin)
        return self._relay if own is None else own

    @property
    def has_catalog(self) -> bool:
        """Whether its resources or prompts are served, as far as it is enabled."""
        return not self.disabled and (self.serves_resources or self.serves_prompts is not None)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when the tools or the state may have changed, until the returned function is
        called.
        """
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None

    def state(self) -> dict[str, Any]:
        """``{"name", "state": "ready" | "waiting" | "failed" | "disabled", "tools", "since"}``.

        With an ``error``, which holds no secrets, when it failed. ``since`` is the time of the last change of
        state. ``changes`` are the latest changes of its tools' definitions, if there were any: ``[{"tool",
        "kind": "changed" | "new" | "removed", "keys", "at"}]``.
        """
        state, error = self._state()
        tools = len(self.listing.tools) if self.listing is not None else 0
        since = self._since.isoformat()
        status: dict[str, Any] = {"name": self.name, "state": state, "tools": tools, "since": since}
        if self._noticed.changes:
            status["changes"] = list(self._noticed.changes)
        return {**status, "error": error} if error else status

    def _state(self) -> tuple[str, str]:
        if self.disabled:
            return "disabled", ""
        if self.connection.is_up:
            return "ready", ""
        lost = self.connection.lost
        return ("waiting", "") if lost is None else ("failed", lost.reason)

    def _listed(self, listing: Listing) -> None:
        self.listing = listing
        self._noticed.listed(listing)
        for warning in some(listing.warnings):
            _log.warning("upstream %r: %s", self.name, self.connection.spec.redact(warning))
        self._notify()

    def _changed(self) -> None:
        now = self._state()
        if now == self._last_state:
            return
        self._last_state, self._since = now, datetime.now(UTC)
        self.catalog.read_again()
        if now[0] == "failed":
            _log.warning("upstream %r: %s", self.name, self.connection.lost)
        self._notify()

    def _notify(self) -> None:
        for listener in list(self._listeners.values()):
            listener()


def _secrets_of(url: str) -> frozenset[str]:
    """The secrets in a URL: its password, and the values of its query."""
    parts = urlsplit(url)
    values = {value for _, value in parse_qsl(parts.query)}
    if parts.password:
        values |= {parts.password, basic(unquote(parts.username or ""), unquote(parts.password))}
    return frozenset(values)


class Upstreams:
    """Every upstream of a config by name; those of ``earlier`` of which the configs say the same."""

    def __init__(
        self,
        configs: Mapping[str, UpstreamConfig],
        environment: Environment,
        earlier: Upstreams | None = None,
    ) -> None:
        self._configs = configs
        kept = {} if earlier is None else earlier._same(configs)
        self.upstreams = {
            name: kept.get(name) or Upstream(name, config, environment) for name, config in configs.items()
        }

    @property
    def workers(self) -> Sequence[Upstream]:
        """The upstreams, which run one by one."""
        return tuple(self.upstreams.values())

    def _same(self, configs: Mapping[str, UpstreamConfig]) -> dict[str, Upstream]:
        known = self._configs
        return {
            name: self.upstreams[name]
            for name, config in configs.items()
            if name in known and is_same(known[name], config)
        }

    async def run(self) -> None:
        """Keep all of them connected until cancelled."""
        async with anyio.create_task_group() as group:
            for upstream in self.upstreams.values():
                group.start_soon(kept("an upstream", upstream.run))

    def named(self, name: str) -> Upstream:
        """The upstream ``name``. Raises ``ToolFailure`` when there is none, or it is disabled."""
        upstream = self.upstreams.get(name)
        if upstream is None or upstream.disabled:
            known = ", ".join(self.upstreams) or "none"
            why = "is disabled" if upstream is not None else f"is not configured (known: {known})"
            raise ToolFailure(
                f"Upstream '{name}' {why}",
                error_code="upstream_unavailable",
                user_action=f"Correct services.upstreams.{name} in the config.",
            )
        return upstream
