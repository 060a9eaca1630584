"""What the command line may say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_PORT = 8808
EXAMPLE = "--config toolspan.yaml --transport http"
"""What the help shows first, after the program's name."""


@dataclass(slots=True)
class Options:
    """The options of ``toolspan-server``, as its ``--help`` describes them; without arguments, these.

    ``config`` is empty when no file is named.
    """

    config: list[Path] = field(default_factory=list[Path])
    transport: str = "stdio"
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    workers: int = 1
    token_env: str | None = None
    insecure: bool = False
    hash_token: bool = False
    describe: bool = False
    toolset: str | None = None
    workspace: Path | None = None
    rules: str | None = None
    beside: list[Path] = field(default_factory=list[Path])
    leave: list[Path] = field(default_factory=list[Path])
    aggregate: bool | None = None
    trust: bool = False
    pinned: str | None = None
    principals: str = "local"
    restricted: bool = False
    skip_invalid: bool = False
    log_level: str = "warning"
    log_format: str = "text"
    debug: bool = False
