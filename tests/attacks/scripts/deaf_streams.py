"""A client of HTTP+SSE that never reads, and posts 2,000 calls with large results; then 60 such at once."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.support.deaf import DeafClient
from tests.support.served import call, write_config

from ..attack import Attack, Target

_POSTS = 2_000
_CLIENTS = 60
_OF_EACH = 16
_SIZE = 700_000
_KNOWN = (202, 404, 503)


def _config(folder: Path) -> Path:
    return write_config(folder, "large", limits={"write_seconds": 60})


def run(target: Target) -> None:
    """Each post is answered at once, and what nobody reads is not kept."""
    with DeafClient(target.server.address) as client:
        for number in range(_POSTS):
            status = client.post(call(number, "large", {"size": _SIZE})).status
            assert status in _KNOWN, status
    with ExitStack() as open_:
        for _ in range(_CLIENTS):
            client = open_.enter_context(DeafClient(target.server.address))
            for number in range(_OF_EACH):
                status = client.post(call(number, "large", {"size": _SIZE})).status
                assert status in _KNOWN, status


ATTACK = Attack(
    "I9.2.11", "clients of HTTP+SSE that never read", run, config=_config, memory_mib=400, units=600
)
