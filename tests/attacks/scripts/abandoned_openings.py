"""Sessions that are opened and never used, more of them than there is room for."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.raw_http import Answer, RawClient, request
from tests.support.served import INITIALIZE, call, write_config

from ..attack import Attack, Target

_HEADERS = (("content-type", "application/json"), ("accept", "application/json, text/event-stream"))
_OPENING = request("POST", "/mcp", *_HEADERS, body=json.dumps(INITIALIZE).encode())
_CALL = json.dumps(call(1, "echo", {"value": 1})).encode()


def _config(folder: Path) -> Path:
    return write_config(folder, limits={"sessions": 200})


def run(target: Target) -> None:
    """A session that is used stays, and a new client gets one."""
    with RawClient(target.server.address) as client:
        live = _opened(client)
        assert _called(client, live).status == 200
        for _ in range(1_000):
            _opened(client)
        assert _called(client, live).status == 200
        assert _called(client, _opened(client)).status == 200


def _opened(client: RawClient) -> str:
    answer = client.send(_OPENING).answer()
    assert answer.status == 200, answer
    return answer.headers["mcp-session-id"]


def _called(client: RawClient, session: str) -> Answer:
    headers = (*_HEADERS, ("mcp-session-id", session))
    return client.send(request("POST", "/mcp", *headers, body=_CALL)).answer()


ATTACK = Attack("I9.3.26", "1,000 abandoned openings of sessions", run, config=_config)
