"""One MCP server that the command line names: a command or an address, instead of a config."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from urllib.parse import urlsplit

from toolspan_server.engines.upstreams import ServerSpec

from ...errors import UsageError

CONNECT_SECONDS = 120.0
"""Time for ``npx`` and ``uvx``, which may have to download the server first."""

_LAUNCHERS = frozenset(
    ["bunx", "cmd", "dlx", "env", "exec", "node", "npm", "npx", "pnpm", "run", "uv", "uvx"]
)
_ENDING = re.compile(r"\.(?:cmd|exe|js|mjs|py|ts)$")


def servers_of_texts(texts: Iterable[str], taken: Iterable[str] = ()) -> list[ServerSpec]:
    """The servers behind URLs and command lines, each under a name of its own that is not ``taken``."""
    names, found = set(taken), list[ServerSpec]()
    for text in texts:
        spec = replace(server_of(text), connect_timeout=CONNECT_SECONDS)
        numbered = (f"{spec.name}-{number}" for number in count(2))
        name = spec.name if spec.name not in names else next(each for each in numbered if each not in names)
        names.add(name)
        found.append(replace(spec, name=name))
    return found


def server_of(text: str) -> ServerSpec:
    """The server behind a URL or a command line; named after what it is.

    A command gets this process's whole environment, as it would in a shell. Raises ``UsageError`` for none.
    """
    written = text.strip()
    if re.match(r"https?://", written):
        address = urlsplit(written)
        old = address.path.rstrip("/").endswith("/sse")
        return ServerSpec(_plain(address.hostname or ""), "sse" if old else "http", url=written)
    try:
        command = tuple(shlex.split(written, posix=sys.platform != "win32"))
    except ValueError as error:
        raise UsageError(f"--server: {text!r} is no command line: {error}") from None
    if not command:
        raise UsageError("--server: write a command, as 'npx some-server', or a URL")
    return ServerSpec(_name(command), command=command, inherit_env=True)


def _name(command: tuple[str, ...]) -> str:
    """The first word that is neither a launcher nor an option: without folders, version and ending."""
    for word in command:
        bare = re.split(r"[/\\]", word.rstrip("/\\"))[-1].partition("@")[0]
        name = _ENDING.sub("", bare)
        if not word.startswith("-") and name not in _LAUNCHERS and not name.startswith("python"):
            return _plain(name)
    return _plain(_ENDING.sub("", re.split(r"[/\\]", command[0])[-1]))


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "server"
