"""Upstreams that send requests, messages and bytes without end and never read, all at the same time."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.support.raw_http import tool_call
from tests.support.served import write_config

from ..attack import Attack, Target

_SERVER = Path(__file__).parents[2] / "support" / "mcp_servers" / "flooder.py"
_FLOODS = ("questions", "same_id", "logs", "large_logs", "noise", "endless_line", "stderr")
_SECONDS = 10.0


def _config(folder: Path) -> Path:
    upstreams = {what: {"command": sys.executable, "args": [str(_SERVER), what]} for what in _FLOODS}
    config = write_config(folder, timeout_ms=3_000, services={"upstreams": upstreams})
    content = json.loads(config.read_text())
    content["tools"]["sources"] = [
        {"type": "mcp", "upstream": what, "prefix": f"{what}."} for what in _FLOODS
    ]
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Start each flood; every call ends, and says so."""
    end = time.monotonic() + _SECONDS
    for what in _FLOODS:
        answer = target.server.exchange(tool_call(f"{what}.flood", {}, ("connection", "close")))
        assert b" 200 " in answer.splitlines()[0], answer[:500]
        assert b"upstream_unavailable" in answer or b"timed out" in answer, answer[-500:]
    time.sleep(max(0.0, end - time.monotonic()))


ATTACK = Attack(
    "I9.2.9",
    "upstreams that flood and never read",
    run,
    config=_config,
    memory_mib=96,
    descriptors=4 * len(_FLOODS),  # the pipes of upstreams that are up again
)
