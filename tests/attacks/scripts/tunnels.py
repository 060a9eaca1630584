"""CONNECT with every form of target, by itself and many in one packet, and offers of another protocol."""

from __future__ import annotations

from tests.support.raw_http import request, statuses

from ..attack import Attack, Target

_TARGETS = ("/mcp", "/", "evil.example:80", "http://evil.example/", "*", "//", "?")
_OFFER = (("connection", "upgrade"), ("upgrade", "h2c"))
_ROUNDS = 40
_MOST_LOGGED = 60_000


def run(target: Target) -> None:
    """Each is answered once, and the log stays small."""
    for _ in range(_ROUNDS):
        for each in _TARGETS:
            said = target.server.exchange(request("CONNECT", each))
            assert statuses(said) == [400], (each, said[:200])
        assert statuses(target.server.exchange(request("CONNECT", "/mcp") * 100)) == [400]
        assert 429 in statuses(target.server.exchange(request("GET", "/healthz", *_OFFER) * 1_000))
    logged = len(target.server.errors.text)
    assert logged < _MOST_LOGGED, f"the log grew to {logged:,} characters"


ATTACK = Attack("I9.1.2", "CONNECT in every form, and floods of upgrades", run)
