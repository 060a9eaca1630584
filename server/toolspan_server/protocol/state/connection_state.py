"""What a lasting connection of the eras with a handshake has asked for: log level, resources to watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from ...calls.client import Level

LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the most severe (RFC 5424)."""

MOST_URIS = 1_000


@dataclass(slots=True)
class ConnectionState:
    """One connection's wishes. It is not ``lasting`` when it ends with its one request."""

    lasting: bool = True
    level: Level = "info"
    uris: set[str] = field(default_factory=set[str])
