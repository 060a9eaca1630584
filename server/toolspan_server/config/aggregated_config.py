"""The config with the servers of ``mcpServers`` among its upstreams: ``serve --aggregate``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..common.did_you_mean import nearest
from ..errors import ServeError
from .loading.merge import united
from .models.config import Config

if TYPE_CHECKING:
    from ..schema.mcp_server import McpServerConfig
    from .models.aggregate import AggregateConfig, AggregatedServerConfig

_LONGEST_NAME = 64
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


def aggregated(config: Config) -> Config:
    """``config`` with each enabled server of ``mcpServers`` as an upstream whose tools are all served.

    Raises ``ServeError`` when it has no such server, names one that it does not have, or has an upstream of
    the same name.
    """
    from .models.aggregate import AggregateConfig

    settings = config.aggregate or AggregateConfig.initial()
    _check(config, settings)
    names = _upstream_names(config)
    upstreams = {
        names[name]: _upstream(names[name], entry, settings, _of(settings, name))
        for name, entry in config.mcp_servers.items()
    }
    sources = [_source(names[name], settings, _of(settings, name)) for name in config.mcp_servers]
    parts = {"services": {"upstreams": upstreams}, "tools": {"sources": sources}}
    return united([config, Config.model_validate({**parts, "aggregate": settings})])


def _check(config: Config, settings: AggregateConfig) -> None:
    if not any(not entry.disabled for entry in config.mcp_servers.values()):
        raise ServeError(
            "aggregate: the config has no MCP server to serve (name them under mcpServers, or leave it out)"
        )
    for name, entry in config.mcp_servers.items():
        if entry.oauth is not None and not entry.disabled:
            raise ServeError(
                f"aggregate: the server {name!r} of mcpServers has oauth, but no person signs in to a server "
                f"(give it headers, or aggregate.servers.{name}.token_exchange, or disable it)"
            )
    for name in settings.servers:
        if name not in config.mcp_servers:
            hint = nearest(name, config.mcp_servers)
            raise ServeError(f"aggregate.servers.{name}: mcpServers has no server of that name ({hint})")


def _upstream_names(config: Config) -> dict[str, str]:
    """A name for each server that an upstream may have. Raises ``ServeError`` for two of the same."""
    taken = dict.fromkeys(config.services.entries("upstreams"), "services.upstreams")
    names: dict[str, str] = {}
    for name in config.mcp_servers:
        made = _ILLEGAL.sub("_", name)[:_LONGEST_NAME]
        if made in taken:
            raise ServeError(
                f"aggregate: the server {name!r} of mcpServers has the same name as one of {taken[made]} "
                "(rename one of them)"
            )
        taken[made] = "mcpServers"
        names[name] = made
    return names


def _of(settings: AggregateConfig, name: str) -> AggregatedServerConfig:
    from .models.aggregate import AggregatedServerConfig

    return settings.servers.get(name) or AggregatedServerConfig.initial()


def _upstream(
    name: str, entry: McpServerConfig, settings: AggregateConfig, own: AggregatedServerConfig
) -> Mapping[str, Any]:
    written = {
        name: getattr(entry, name) for name in type(entry).model_fields if name in entry.model_fields_set
    }
    return {
        **written,
        "may_ask": settings.may_ask if own.may_ask is None else own.may_ask,
        "connect_seconds": own.connect_seconds,
        "max_tools": own.max_tools,
        "max_pages": max(100, own.max_tools),
        "resources": True,
        "token_exchange": own.token_exchange,
        "prompts": {"prefix": _prefix(name, own), "include": own.include, "exclude": own.exclude},
    }


def _source(name: str, settings: AggregateConfig, own: AggregatedServerConfig) -> Mapping[str, Any]:
    return {
        "type": "mcp",
        "upstream": name,
        "include": own.include,
        "exclude": own.exclude,
        "prefix": _prefix(name, own),
        "tools": {tool: {"name": renamed} for tool, renamed in own.rename.items()},
        "approval": own.approval or settings.approval,
        "definitions": settings.definitions,
    }


def _prefix(name: str, own: AggregatedServerConfig) -> str:
    return f"{name}_" if own.prefix is None else own.prefix
