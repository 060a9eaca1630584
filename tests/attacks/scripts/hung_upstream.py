"""Forty calls, more than may run at once, of an upstream that never answers: the others go on."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.support.raw_http import RawClient, tool_call
from tests.support.served import tool, write_config

from ..attack import Attack, Target

_RAW = Path(__file__).parents[2] / "support" / "mcp_servers" / "raw.py"
_CALLS = 40
_TIMEOUT_MS = 4_000


def _config(folder: Path) -> Path:
    upstreams = {"raw": {"command": sys.executable, "args": [str(_RAW)]}}
    config = write_config(folder, services={"upstreams": upstreams})
    content = json.loads(config.read_text())
    hang = {"type": "mcp", "upstream": "raw", "tool": "hang"}
    content["tools"]["registry"].append(tool("hang", hang, timeout_ms=_TIMEOUT_MS))
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Each call ends with its own time-out, in line or at the upstream."""
    with ExitStack() as stack:
        clients = [stack.enter_context(RawClient(target.server.address)) for _ in range(_CALLS)]
        for client in clients:
            client.send(tool_call("hang"))
        for client in clients:
            assert b"timed out after 4000ms" in client.answer().body


ATTACK = Attack(
    "I9.2.10",
    "forty calls of an upstream that hangs",
    run,
    config=_config,
    descriptors=4,  # the pipes of the upstream, once it is up
)
