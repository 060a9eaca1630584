"""What ``toolspan ui`` and ``toolspan gateway`` are told about their address."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where the app is served, and by which ``token`` it may be used; ``insecure``: beyond this machine by
    none."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    insecure: bool = False
