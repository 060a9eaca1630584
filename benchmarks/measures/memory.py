"""Resident memory of a server on stdio with three tools."""

from __future__ import annotations

from ..messages import check, echo
from ..processes import resident_mb
from ..servers import Server
from ..stdio import Stdio


def resident_after_calls(server: Server, calls: int = 100) -> float:
    """MiB of the server's process after its start and ``calls`` calls."""
    with Stdio(server.stdio(3)) as client:
        for number in range(1, calls + 1):
            check(client.ask(echo(number)), number)
        return resident_mb(client.process.pid)
