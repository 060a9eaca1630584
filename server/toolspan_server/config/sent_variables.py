"""The environment variables whose values leave the machine when a config is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..parts.kind import KINDS
from ..parts.service import SERVICES
from ..parts.source import SOURCES
from ..parts.typed import TypedConfig
from ..problems import Path as Place
from ..problems import json_path
from .config_file import ConfigFile
from .models.sent_variable import SentVariable
from .raw_data import inside, typed

_KEPT = frozenset(("$schema", "version", "request_state_key", "state_dir", "handlers", "serving", "limits"))
_CONSENTED = frozenset(("mcpServers", "mcp_servers", "servers", "providers", "validation"))


def sent_variables(source: ConfigFile) -> Iterator[SentVariable]:
    """The variables of one file that are set and whose values can leave the machine.

    Those of MCP servers and providers are left out: these are only used with consent. So are numbers and
    flags, and values used only on this machine: paths, limits, the tokens that the server itself asks for.
    """
    used = [*_interpolated(source), *_named(source)]
    if not used:
        return
    hosts = _hosts(source)
    everywhere = tuple(dict.fromkeys(host for found in hosts.values() for host in found))
    for place, name in used:
        own = _own_host(source, place) or next(
            (hosts[place[:length]] for length in (3, 2, 1) if hosts.get(place[:length])), ()
        )
        if own or everywhere:
            yield SentVariable(source.path, json_path(place), name, own or everywhere, bool(own))


def _interpolated(source: ConfigFile) -> Iterator[tuple[Place, str]]:
    for use in source.interpolated.used:
        if use.path not in source.converted and not _is_kept(source.data, use.path):
            yield use.path, use.name


def _named(source: ConfigFile) -> Iterator[tuple[Place, str]]:
    """Variables that a key such as ``token_env`` names."""
    for index, tool in source.tools.items():
        for path, name in tool.implementation.variables():
            yield ("tools", "registry", index, "implementation", *path), name
    for index, offering in enumerate(source.config.tools.sources if source.config is not None else ()):
        for path, name in offering.variables():
            yield ("tools", "sources", index, *path), name


def _is_kept(data: Any, place: Place) -> bool:
    """Whether the string at ``place`` is only used on this machine, or a person is asked about it anyway."""
    if place[0] in _KEPT or place[0] in _CONSENTED:
        return True
    if place[0] == "auth" or (place[0] == "toolsets" and place[2:3] == ("auth",)):
        return place[:2] != ("auth", "oauth")
    if place[0] == "storage":
        return place[1:] != ("url",)
    if place[0] == "services":
        return SERVICES.config(str(place[1])).is_local(place[2:])
    if place[:2] == ("tools", "sources"):
        return _is_local(typed(inside(data, *place[:3]), SOURCES), place[3:])
    if place[:2] == ("tools", "registry") and place[3] == "implementation":
        return _is_local(typed(inside(data, *place[:4]), KINDS), place[4:])
    return False


def _is_local(part: type[TypedConfig] | None, path: Place) -> bool:
    return part is not None and part.is_local(path)


def _own_host(source: ConfigFile, place: Place) -> tuple[str, ...]:
    """The host that clients fetch the icon at ``place`` from."""
    if place[-1] != "src" or "icons" not in place:
        return ()
    host = _host_of(source.interpolated.written[place][1])
    return (host,) if host else ()


def _hosts(source: ConfigFile) -> Mapping[Place, tuple[str, ...]]:
    """The hosts of each tool, source, service entry and token issuer, and of the storage, as far as they are
    known."""
    found: dict[Place, tuple[str, ...]] = {}
    for index, tool in source.tools.items():
        found["tools", "registry", index] = tuple(tool.implementation.hosts())
    config = source.config
    if config is None:
        return found
    for index, offering in enumerate(config.tools.sources):
        found["tools", "sources", index] = tuple(offering.hosts())
    for service, entries in config.services.configured().items():
        for name, host in entries.hosts():
            place = ("services", service, name)
            found[place] = (*found.get(place, ()), host)
    if config.storage is not None and config.storage.host is not None:
        found["storage",] = (config.storage.host,)
    if config.auth is not None and config.auth.oauth is not None:
        urls = (config.auth.oauth.issuer, config.auth.oauth.jwks_url)
        found["auth", "oauth"] = tuple(dict.fromkeys(host for url in urls if (host := _host_of(url))))
    return found


def _host_of(url: str | None) -> str:
    return "" if url is None else urlsplit(url).hostname or ""
