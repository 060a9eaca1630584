"""Sessions that are deleted while a request in them is taken up: each is answered all the same."""

from __future__ import annotations

import random
import threading

from tests.support import http_traffic as traffic
from tests.support.raw_http import RawClient, request
from tests.support.served import INITIALIZED

from ..attack import Attack, Target

_ROUNDS = 600
_KINDS = ("unknown", "unknown", "progress", "list")


def run(target: Target) -> None:
    """Ask and delete at once, on two connections."""
    chance, pause = random.Random(9), threading.Event()
    address = target.server.address
    for _ in range(_ROUNDS):
        with RawClient(address) as asking, RawClient(address) as deleting:
            opened = deleting.send(traffic.initialize(1).sent).answer()
            session = ("mcp-session-id", opened.headers["mcp-session-id"])
            assert deleting.send(traffic.post(INITIALIZED, session)).answer().status == 202
            asked = traffic.handshake_era(7, chance.choice(_KINDS), chance.randrange(5), session[1])
            asking.send(asked.sent)
            pause.wait(chance.random() * chance.choice((0, 0.002, 0.01)))
            assert deleting.send(request("DELETE", "/mcp", session)).answer().status == 200
            _answered(asking)


def _answered(client: RawClient) -> None:
    answer = client.answer()
    responses = [each for each in traffic.messages(answer) if "result" in each or "error" in each]
    assert len(responses) == 1, answer
    assert responses[0].get("id") == 7 or answer.status == 404, answer


ATTACK = Attack("I9.5.2", "sessions deleted while a request in them is taken up", run)
