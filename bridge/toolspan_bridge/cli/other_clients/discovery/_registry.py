"""A registry entry (``server.json``) of the official MCP registry, as entries of ``mcpServers``.

The format is that of https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json; earlier
spellings (``registry_type`` …) are read too. A file or an answer of the registry's API, which has the entry
under ``server``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ....errors import UsageError
from ._inputs import Inputs, objects

_RUNTIMES = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_DEFAULT_BASES = {
    "npm": "registry.npmjs.org",
    "pypi": "pypi.org",
    "nuget": "api.nuget.org",
}
_BASE_FLAGS = {"npm": "--registry", "pypi": "--default-index", "nuget": "--source"}
_IDENTIFIERS = {
    "npm": r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*",
    "pypi": r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?",
    "nuget": r"[A-Za-z0-9_][A-Za-z0-9._-]*",
    "oci": r"[a-z0-9][A-Za-z0-9._/:@-]*",
}
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,99}")
_MOST = 50


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to reach the server: ``kind`` is the type of package, or the transport of a remote.

    ``what`` describes it. One that cannot be used has a ``problem``.
    """

    kind: str
    what: str
    data: Mapping[str, Any]
    is_remote: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RegistryServer:
    """The server of a registry entry, and its offers in the entry's order, packages first."""

    name: str
    description: str
    version: str
    offers: Sequence[Offer]
    notice: str = ""

    def short_name(self) -> str:
        """The last part of its name, as a config calls it."""
        last = self.name.rpartition("/")[2] or self.name
        return re.sub(r"[^A-Za-z0-9_.-]+", "-", last).strip("-.")[:64] or "server"


def registry_server(data: Any) -> RegistryServer:
    """The server of the registry entry ``data``. Raises ``UsageError`` where it is none."""
    if not isinstance(data, dict):
        raise UsageError("this is no registry entry: an object with name and packages or remotes is needed")
    given = cast("dict[str, Any]", data)
    wrapped = given.get("server")
    notice = _notice(given)
    if isinstance(wrapped, dict):
        given = cast("dict[str, Any]", wrapped)
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("this is no registry entry: it has no name")
    packages, remotes = objects(given, "packages"), objects(given, "remotes")
    if len(packages) + len(remotes) > _MOST:
        raise UsageError(f"this registry entry has more than {_MOST} packages and remotes")
    offers = [*map(_package, packages), *map(_remote, remotes)]
    if not offers:
        raise UsageError(f"{name} has neither packages nor remotes: there is nothing to start or connect to")
    version = given.get("version") or cast("dict[str, Any]", given.get("version_detail") or {}).get("version")
    return RegistryServer(name, str(given.get("description") or ""), str(version or ""), offers, notice)


def _notice(given: Mapping[str, Any]) -> str:
    """What the registry says about the state of an entry that is not in use any more."""
    meta: Any = given.get("_meta") if isinstance(given.get("_meta"), dict) else {}
    official: Any = meta.get("io.modelcontextprotocol.registry/official")
    found = cast("dict[str, Any]", official) if isinstance(official, dict) else given
    status = found.get("status")
    return f"the registry calls it {status}" if status in ("deprecated", "deleted") else ""


def entry_of(offer: Offer, inputs: Inputs) -> dict[str, Any]:
    """``offer`` as an entry of ``mcpServers``, its variables filled by ``inputs``. Raises ``UsageError``."""
    if offer.problem:
        raise UsageError(f"{offer.what}: {offer.problem}")
    return _connection(offer, inputs) if offer.is_remote else _command(offer, inputs)


def _package(given: Mapping[str, Any]) -> Offer:
    kind = str(given.get("registryType") or given.get("registry_type") or given.get("registry_name") or "")
    identifier = str(given.get("identifier") or given.get("name") or "")
    version = str(given.get("version") or "")
    what = f"{kind} package {identifier}" + (f" {version}" if version else "")
    return Offer(kind, what, given, problem=_unusable(kind, identifier, version, given))


def _unusable(kind: str, identifier: str, version: str, given: Mapping[str, Any]) -> str:
    transport: Any = given.get("transport")
    wire = cast("dict[str, Any]", transport).get("type", "stdio") if isinstance(transport, dict) else "stdio"
    if kind == "mcpb":
        return "a bundle (.mcpb) is to be downloaded, checked and unpacked: no command starts it as it is"
    if kind not in _RUNTIMES:
        return f"nothing here starts packages of the type {kind!r} (known: {', '.join(_RUNTIMES)})"
    if wire != "stdio":
        return f"it is a server on {wire} to be started apart: start it, then add its URL under mcpServers"
    if not re.fullmatch(_IDENTIFIERS[kind], identifier):
        return "its identifier is none of this registry"
    if version and not _VERSION.fullmatch(version):
        return f"{version!r} is no version"
    hint = given.get("runtimeHint", given.get("runtime_hint"))
    if hint not in (None, "", _RUNTIMES[kind], *_also(kind)):
        return f"it wants to be started by {hint!r}, which is no runtime of {kind} packages"
    return ""


def _also(kind: str) -> tuple[str, ...]:
    return {"npm": ("bunx",), "pypi": (), "oci": ("podman",), "nuget": ()}[kind]


def _remote(given: Mapping[str, Any]) -> Offer:
    kind = str(given.get("type") or given.get("transport_type") or "")
    url = str(given.get("url") or "")
    problem = "" if kind in ("streamable-http", "sse") else f"the transport {kind!r} is not known"
    if not re.match(r"https?://", url):
        problem = f"{url!r} is no http or https URL"
    return Offer(kind, f"{kind} at {url}", given, is_remote=True, problem=problem)


def _connection(offer: Offer, inputs: Inputs) -> dict[str, Any]:
    headers = inputs.pairs(offer.data, "headers", "header")
    return {
        "type": "sse" if offer.kind == "sse" else "http",
        "url": inputs.filled(str(offer.data["url"]), objects(offer.data, "variables"), "url"),
        **({"headers": headers} if headers else {}),
    }


def _command(offer: Offer, inputs: Inputs) -> dict[str, Any]:
    given = offer.data
    runtime = str(given.get("runtimeHint") or given.get("runtime_hint") or _RUNTIMES[offer.kind])
    env = inputs.pairs(given, "environmentVariables", "variable")
    options = inputs.arguments(given, "runtimeArguments")
    after = inputs.arguments(given, "packageArguments")
    lines = {"npm": _npm, "pypi": _pypi, "oci": _oci, "nuget": _nuget}
    arguments = list(lines[offer.kind](given, options, after, env))
    return {"command": runtime, "args": arguments, **({"env": env} if env else {})}


def _reference(given: Mapping[str, Any]) -> str:
    version = str(given.get("version") or "")
    return str(given.get("identifier") or given.get("name")) + (f"@{version}" if version else "")


def _base(given: Mapping[str, Any], kind: str) -> list[str]:
    """The option that names another registry than the usual one."""
    base = str(given.get("registryBaseUrl") or given.get("registry_base_url") or "")
    if not base or _DEFAULT_BASES[kind] in base:
        return []
    return [_BASE_FLAGS[kind], base]


def _npm(
    given: Mapping[str, Any], options: list[str], after: list[str], _env: Mapping[str, str]
) -> Iterator[str]:
    if not {"-y", "--yes"}.intersection(options):
        yield "-y"
    yield from (*_base(given, "npm"), *options, _reference(given), *after)


def _pypi(
    given: Mapping[str, Any], options: list[str], after: list[str], _env: Mapping[str, str]
) -> Iterator[str]:
    yield from (*_base(given, "pypi"), *options, _reference(given), *after)


def _oci(
    given: Mapping[str, Any], options: list[str], after: list[str], env: Mapping[str, str]
) -> Iterator[str]:
    """Variables are named, not given: the container takes them from the environment of its command."""
    yield from ("run", "-i", "--rm")
    for name in env:
        yield from ("-e", name)
    yield from [option for option in options if option not in ("run", "-i", "--interactive", "--rm")]
    image = str(given.get("identifier") or given.get("name"))
    tagged = "@" in image or ":" in image.rpartition("/")[2]
    version = str(given.get("version") or "")
    yield image if tagged or not version else f"{image}:{version}"
    yield from after


def _nuget(
    given: Mapping[str, Any], options: list[str], after: list[str], _env: Mapping[str, str]
) -> Iterator[str]:
    yield from (*_base(given, "nuget"), *options, _reference(given), "--yes")
    if after:
        yield from ("--", *after)
