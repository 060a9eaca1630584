"""Which server to connect to, how, and how often again."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from ...common.secrets.redaction import redactor_of
from ...schema.mcp_server import McpServerConfig
from ...schema.oauth_client import OAuthClientConfig

if TYPE_CHECKING:
    import httpx2

ServerKind = Literal["stdio", "http", "sse"]


class UnusableServer(ValueError):
    """The server's entry cannot work; the message says why and what to write."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server to connect to. ``problem`` says why it cannot be, where that is known beforehand.

    ``kind`` is ``stdio`` with the ``command`` of a subprocess, its ``env`` and ``cwd``; or ``http``
    (Streamable HTTP) or ``sse`` with a ``url`` and ``headers``. ``call_timeout`` is in seconds, as is
    ``connect_timeout`` (to start and to list its tools), where ``limits.connect_seconds`` sets it.
    No message shows the values of ``env`` and ``headers``, nor those in ``secrets``. ``inherit_env`` hands
    the whole environment to the subprocess instead of the few harmless variables. ``own``: its command starts
    our own server, which is spoken to without the SDK; ``restricted``: of a config that nobody trusts. Its
    tools change none of the paths ``left_alone``, which it is told and which tell it from no other server.
    ``oauth`` is the client to sign in with, and
    ``authorization`` authorizes the requests to a url.
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
    connect_timeout: float | None = None
    secrets: frozenset[str] = frozenset()
    redactor: Callable[[str], str] = str
    problem: str = ""
    own: bool = False
    restricted: bool = False
    left_alone: tuple[str, ...] = ()
    oauth: OAuthClientConfig | None = None
    authorization: httpx2.Auth | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The whole command line."""
        return (*self.command, *(part for path in self.left_alone for part in ("--leave", path)))

    @property
    def address(self) -> str:
        """What tells the server from any other: its URL, or its command and the folder that it is started in,
        as JSON. A relative word of the command is another program in another folder; our own server reads
        nothing of it but its files, whose config is known."""
        folder = "" if self.own else os.path.realpath(self.cwd or "")
        return self.url or json.dumps([*self.command, folder])

    @property
    def written(self) -> str:
        """All that decides which program or service answers, and as whom, as JSON: with its secrets."""
        return json.dumps([self.kind, self.address, sorted(self.env.items()), sorted(self.headers.items())])

    def redact(self, text: str) -> str:
        """``text`` without the server's secret values; of a header ``Bearer abc``, without ``abc`` too."""
        credentials = {value.rpartition(" ")[2] for value in self.headers.values()}
        secrets = {*self.secrets, *self.env.values(), *self.headers.values(), *credentials}
        if self.oauth is not None:
            secrets |= self.oauth.secrets()
        return self.redactor(redactor_of(frozenset(secrets))(text))


@dataclass(frozen=True, slots=True)
class Restarts:
    """How often a server that was lost is connected again, and how long the growing pauses get, in seconds.

    With ``jitter`` each pause is cut by up to that part of it. ``from_start``: also one that never answered.
    """

    most: float = 5
    first_pause: float = 0.25
    longest_pause: float = 8.0
    jitter: float = 0.0
    from_start: bool = False

    def pause(self, count: int) -> float:
        """The pause before the restart after ``count`` others."""
        pause = min(self.first_pause * 2.0 ** min(count, 30), self.longest_pause)
        return pause * (1 - self.jitter * random.random())


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """A server whose tools are not there: why, and the last lines of what it wrote to stderr.

    ``needs_sign_in``: it lets nobody in who has not signed in.
    """

    server: str
    reason: str
    stderr: tuple[str, ...] = ()
    needs_sign_in: bool = False

    @override
    def __str__(self) -> str:
        tail = "".join(f"\n    {line}" for line in self.stderr)
        return f"server {self.server!r}: {self.reason}" + (f"; it last said:{tail}" if tail else "")


def spec_of(name: str, entry: McpServerConfig, base: Path | None, call_timeout: float) -> ServerSpec:
    """The server that ``entry`` describes; its relative ``cwd`` starts at ``base``."""
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
        call_timeout=call_timeout,
        oauth=entry.oauth,
    )


def _kind(entry: McpServerConfig) -> ServerKind:
    if entry.type == "stdio" or (entry.type is None and entry.command):
        return "stdio"
    if entry.type == "sse" or (entry.type is None and (entry.url or "").split("?")[0].endswith("/sse")):
        return "sse"
    return "http"
