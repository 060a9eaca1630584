"""What a call costs the server's processor. It holds where other work takes the processor away in between."""

from __future__ import annotations

from pathlib import Path

from ..load import Http
from ..stdio import Stdio
from .stdio_calls import one_by_one


def over_http(server: Http, era: str, *, connections: int, seconds: float) -> float:
    """Microseconds of the server's processor a call, ``connections`` calling for ``seconds``."""
    before = _spent_ns(server.process.pid)
    outcome = server.drive(era, connections=connections, seconds=seconds)
    return (_spent_ns(server.process.pid) - before) / 1000 / len(outcome.latencies)


def over_stdio(client: Stdio, calls: int) -> float:
    """Microseconds of the server's processor a call, each sent after the answer to the one before."""
    before = _spent_ns(client.process.pid)
    one_by_one(client, calls)
    return (_spent_ns(client.process.pid) - before) / 1000 / calls


def over_stdio_pipelined(client: Stdio, calls: int) -> float:
    """Microseconds of the server's processor a call, all written without waiting."""
    before = _spent_ns(client.process.pid)
    client.pipelined(calls)
    return (_spent_ns(client.process.pid) - before) / 1000 / calls


def _spent_ns(pid: int) -> int:
    """Nanoseconds that the process's first thread has run. Raises ``OSError`` where there is no ``/proc``."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
