"""A server as a client writes it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....errors import UsageError
from . import _toml
from .clients import Client


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """How a client reaches a server: by ``command`` with ``env``, or at ``url`` with ``headers``."""

    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def served_by_command(configs: Sequence[Path], env: Mapping[str, str]) -> ServerEntry:
    """The server of ``configs`` on stdio. Every path is absolute: a client starts it anywhere."""
    script = Path(sys.executable).with_name("toolspan-server" + (".exe" if sys.platform == "win32" else ""))
    start = [str(script)] if script.is_file() else [sys.executable, "-P", "-m", "toolspan_server"]
    files = (part for path in configs for part in ("--config", str(path.absolute())))
    return ServerEntry([*start, *files], env)


def entry(client: Client, server: ServerEntry) -> dict[str, Any]:
    """What ``client`` writes for ``server``. Raises ``UsageError`` for a URL where it takes none."""
    if server.url is None:
        kind = {} if client.kinds is None else {"type": client.kinds[0]}
        env = {"env": dict(server.env)} if server.env else {}
        return {**kind, "command": server.command[0], "args": list(server.command[1:]), **env}
    if client.url is None:
        raise UsageError(f"{client.title} takes no URL in its config: {client.remote}")
    kind = {} if client.kinds is None else {"type": client.kinds[1]}
    headers = {client.headers: dict(server.headers)} if server.headers else {}
    return {**kind, client.url: server.url, **headers}


def snippet(client: Client, name: str, server: ServerEntry) -> str:
    """The entry with what stands around it, to be pasted."""
    if client.toml:
        return _toml.table([client.key, name], entry(client, server))
    return json.dumps({client.key: {name: entry(client, server)}}, ensure_ascii=False, indent=2) + "\n"
