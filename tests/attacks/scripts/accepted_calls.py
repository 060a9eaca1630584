"""A client of HTTP+SSE that posts calls which take long, each of a megabyte, as fast as they are accepted."""

from __future__ import annotations

from pathlib import Path

from tests.support.deaf import DeafClient
from tests.support.served import call, write_config

from ..attack import Attack, Target

_CALLS = 900
_LARGE = "x" * 900_000


def _config(folder: Path) -> Path:
    return write_config(folder, "wait", limits={"write_seconds": 60, "concurrent_calls": 64})


def run(target: Target) -> None:
    """What was accepted and has not run yet is bounded, in number and in bytes."""
    with DeafClient(target.server.address) as client:
        for number in range(_CALLS):
            status = client.post(call(number, "wait", {"seconds": 20, "note": "wait", "text": _LARGE})).status
            assert status in (202, 404, 503), status


ATTACK = Attack(
    "I9.2.11",
    "900 calls over HTTP+SSE that take long, of a megabyte each",
    run,
    config=_config,
    memory_mib=200,
)
