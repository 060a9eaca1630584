"""From starting a server on stdio to its answer to the first ``tools/list``."""

from __future__ import annotations

from time import perf_counter

from ..messages import request
from ..servers import Server
from ..stdio import Stdio


def start_to_list(server: Server, tools: int) -> float:
    """Milliseconds from asking for the process, over the handshake, to the list of ``tools`` tools."""
    with Stdio(server.stdio(tools)) as client:
        answer = client.ask(request(1, "tools/list", {}))
        elapsed = perf_counter() - client.started
    named = answer.count(b'"name"')
    if b'"greet"' not in answer or (server.any_number and named < tools):
        raise RuntimeError(f"{server.name} listed {named} tools, not {tools}: {answer[:300]!r}")
    return elapsed * 1000
