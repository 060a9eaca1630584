"""Which MCP servers to connect to: from the config, from ``.mcp.json``, and the config's own tools.

Precedence: the config's ``mcpServers``; where it has none, the ``.mcp.json`` of the current folder. The
config's own tools are connected too whenever it has any, served by a subprocess under the config's ``name``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from toolspan_server.config import Config, McpServerConfig

from ..errors import UsageError
from ._variables import expand

ServerKind = Literal["stdio", "http", "sse"]

MCP_JSON = ".mcp.json"
_SHORTEST_SECRET = 4
_OWN_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server to connect to. ``problem`` says why it cannot be, where that is known beforehand.

    No message shows the values of ``env`` and ``headers``, nor those in ``secrets``. ``inherit_env`` hands
    the whole environment to the subprocess instead of the few harmless variables.
    """

    name: str
    kind: ServerKind = "stdio"
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    inherit_env: bool = False
    call_timeout: float = 30.0
    secrets: frozenset[str] = frozenset()
    redactor: Callable[[str], str] = str
    problem: str = ""

    def redact(self, text: str) -> str:
        """``text`` without the server's secret values; of a header ``Bearer abc``, without ``abc`` too."""
        credentials = {value.rpartition(" ")[2] for value in self.headers.values()}
        secrets = {*self.secrets, *self.env.values(), *self.headers.values(), *credentials}
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return self.redactor(text)


def servers_of(
    config: Config | None = None, *, skip_invalid: bool = False, directory: Path | None = None
) -> list[ServerSpec]:
    """The servers that ``config`` and the ``.mcp.json`` in ``directory`` (else the current one) lead to.

    A server that cannot work (a variable is not set, neither command nor url …) comes with its ``problem``,
    so that it costs only its own tools. Raises ``UsageError`` when ``.mcp.json`` cannot be read.
    """
    config = config or Config()
    timeout = config.tools.default_timeout_ms / 1000
    base = config.directory if config.files else None
    found = [
        replace(_spec(name, entry, base, timeout), redactor=config.redact)
        for name, entry in config.mcp_servers.items()
        if not entry.disabled
    ]
    if not config.mcp_servers:
        found = _from_mcp_json((directory or Path.cwd()) / MCP_JSON, timeout)
    if config.tools.enabled and config.tools.registry:
        found.append(_own(config, {spec.name for spec in found}, skip_invalid=skip_invalid))
    return sorted(found, key=lambda spec: spec.name)


def _own(config: Config, taken: set[str], *, skip_invalid: bool) -> ServerSpec:
    files = [part for path in config.files for part in ("--config", str(path))]
    options = ["--skip-invalid"] if skip_invalid else []
    longest = max(tool.timeout_ms or config.tools.default_timeout_ms for tool in config.tools.registry)
    return ServerSpec(
        name=config.name if config.name not in taken else f"{config.name}-own",
        command=(sys.executable, "-m", "toolspan_server", *files, *options),
        inherit_env=True,
        call_timeout=longest / 1000 + _OWN_GRACE_SECONDS,
        redactor=config.redact,
        problem="" if files else "its config comes from no file (save it, so that a subprocess can serve it)",
    )


def _from_mcp_json(path: Path, timeout: float) -> list[ServerSpec]:
    if not path.is_file():
        return []
    found: list[ServerSpec] = []
    for name, raw in _read_servers(path).items():
        expansion = expand(raw, os.environ)
        if expansion.problem:
            found.append(ServerSpec(name, problem=f"{path}: $.mcpServers.{name}: {expansion.problem}"))
            continue
        try:
            entry = McpServerConfig.model_validate(expansion.value)
        except ValidationError as error:
            found.append(ServerSpec(name, problem=f"{path}: {_faults(error, f'$.mcpServers.{name}')}"))
            continue
        if not entry.disabled:
            found.append(replace(_spec(name, entry, path.parent, timeout), secrets=expansion.values))
    return found


def _read_servers(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error} (correct it, or remove the file)") from None
    wanted = 'an object with "mcpServers": {"NAME": {"command": …} or {"url": …}} is needed'
    if not isinstance(document, dict):
        raise UsageError(f"{path}: {wanted}")
    loaded = cast("dict[str, Any]", document)
    servers: dict[str, Any] = {}
    for key in ("servers", "mcpServers"):
        section: Any = loaded.get(key, {})
        if not isinstance(section, dict):
            raise UsageError(f"{path}: $.{key}: {wanted}")
        servers.update(cast("dict[str, Any]", section))
    return servers


def _spec(name: str, entry: McpServerConfig, base: Path | None, timeout: float) -> ServerSpec:
    kind = _kind(entry)
    folder = (base or Path()) / Path(entry.cwd).expanduser() if entry.cwd else base
    return ServerSpec(
        name=name,
        kind=kind,
        command=(entry.command, *entry.args) if entry.command and kind == "stdio" else (),
        env=entry.env,
        cwd=str(folder) if folder else None,
        url=entry.url or "",
        headers=entry.headers,
        call_timeout=timeout,
    )


def _kind(entry: McpServerConfig) -> ServerKind:
    if entry.type == "stdio" or (entry.type is None and entry.command):
        return "stdio"
    if entry.type == "sse" or (entry.type is None and (entry.url or "").split("?")[0].endswith("/sse")):
        return "sse"
    return "http"


def _faults(error: ValidationError, place: str) -> str:
    """What is wrong with an entry, each fault with its place in the file."""
    told: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        where = place + "".join(f".{part}" for part in fault["loc"])
        cause = fault.get("ctx", {}).get("error")
        sentences = [f"$: {fault['msg']}"] if cause is None else str(cause).split("; $")
        told += [where + sentence.removeprefix("$") for sentence in sentences]
    return "; ".join(told)
