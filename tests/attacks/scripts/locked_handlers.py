"""Handlers that hold Python's lock for half a minute, or start processes that outlive them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.support.isolated import config, entry, is_alive, noted
from tests.support.raw_http import RawClient, tool_call
from tests.support.served import until

from ..attack import Attack, Target

_TIMEOUT_MS = 3_000


def _config(folder: Path) -> Path:
    brief = [
        entry(f"{name}_brief", f"isolated_{name}", timeout_ms=_TIMEOUT_MS) for name in ("power", "family")
    ]
    return config(folder, *brief)


def run(target: Target) -> None:
    """All end with their time-outs, and so does what they started."""
    with ExitStack() as stack:
        clients = [stack.enter_context(RawClient(target.server.address)) for _ in range(4)]
        for number, client in enumerate(clients):
            name = "power_brief" if number % 2 else "family_brief"
            client.send(tool_call(name, {"note": f"noted{number}"}))
        for client in clients:
            assert b"timed out after 3000ms" in client.answer().body
    pids = [pid for number in range(4) for pid in noted(target.folder, f"noted{number}")]
    assert pids
    until(lambda: not any(map(is_alive, pids)), "the workers and all that they started to end")


ATTACK = Attack(
    "I9.2.14",
    "handlers that hold the interpreter's lock, and leave processes behind",
    run,
    config=_config,
    steady=tool_call("weather"),
)
