"""As many handlers as may run at once compute in threads of the server: others are served meanwhile."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.support.raw_http import RawClient, tool_call
from tests.support.served import write_config

from ..attack import Attack, Target

_CALLS = 24
_SECONDS = 0.3


def _config(folder: Path) -> Path:
    return write_config(folder, "compute", timeout_ms=120_000)


def run(target: Target) -> None:
    """Each ends with its result."""
    with ExitStack() as stack:
        clients = [stack.enter_context(RawClient(target.server.address)) for _ in range(_CALLS)]
        for client in clients:
            client.send(tool_call("compute", {"seconds": _SECONDS}))
        for client in clients:
            assert b'"isError":false' in client.answer().body


ATTACK = Attack(
    "I24.5.4",
    "24 handlers that compute in threads",
    run,
    config=_config,
    steady=tool_call("weather", {"location": "x"}),
    units=100,
)
