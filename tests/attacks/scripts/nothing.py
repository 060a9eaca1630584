"""No attack: what the figures are when nothing happens."""

from __future__ import annotations

from tests.support.raw_http import request, statuses

from ..attack import Attack, Target


def run(target: Target) -> None:
    """Ask how the server is, a few times."""
    health = request("GET", "/healthz", ("connection", "close"))
    for _ in range(20):
        assert statuses(target.server.exchange(health)) == [200]


ATTACK = Attack("I9.5.1", "nothing, for comparison", run)
