"""Approvals that nobody gave: accepts without a state, states that come again, a flood of open questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.raw_http import RawClient, request, tool_headers
from tests.support.served import MODERN_META, tool, write_config

from ..attack import Attack, Target

_REPLAYS = 200
_QUESTIONS = 2_000
_META = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
_ACCEPT = {"action": "accept", "content": {}}


def _config(folder: Path) -> Path:
    config = write_config(folder)
    content = json.loads(config.read_text())
    delete = tool("delete", {"type": "mock", "mock_response": "deleted"}, approval=True)
    content["tools"]["registry"].append(delete)
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Nothing runs but what was asked and answered, once, while a flood of questions is open."""
    with RawClient(target.server.address) as client:
        kept = _answered(_called(client))
        assert _type(_called(client, inputResponses=kept["inputResponses"])) == "input_required"
        for _ in range(_QUESTIONS):
            asked = _called(client)
        assert _type(_called(client, **_answered(asked))) == "complete"
        told = [_type(_called(client, **kept)) for _ in range(_REPLAYS)]
        assert told == ["complete", *["input_required"] * (_REPLAYS - 1)]


def _called(client: RawClient, **params: Any) -> dict[str, Any]:
    given = {"name": "delete", "arguments": {}, **params, "_meta": _META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": given}).encode()
    client.send(request("POST", "/mcp", *tool_headers("delete"), body=body))
    return client.answer().message  # type: ignore[no-any-return]


def _answered(asked: dict[str, Any]) -> dict[str, Any]:
    result = asked["result"]
    responses = dict.fromkeys(result["inputRequests"], _ACCEPT)
    return {"requestState": result["requestState"], "inputResponses": responses}


def _type(answer: dict[str, Any]) -> str:
    return str(answer["result"]["resultType"])


ATTACK = Attack("I9.1.5", "accepts that nobody gave", run, config=_config, descriptors=1)
