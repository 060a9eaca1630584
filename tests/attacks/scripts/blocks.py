"""Results of very many small blocks from an upstream, and two texts that fit one by one but not together."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.raw_http import RawClient, tool_call
from tests.support.served import tool, write_config

from ..attack import Attack, Target

_CALLS = 5
_BLOCKS = 30_000
_LIMIT = 65_536
_RAW = Path(__file__).parents[2] / "support" / "mcp_servers" / "raw.py"
_TEXTS = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}


def _config(folder: Path) -> Path:
    upstreams = {"raw": {"command": sys.executable, "args": [str(_RAW)]}}
    config = write_config(folder, services={"upstreams": upstreams}, limits={"result_bytes": _LIMIT})
    content = json.loads(config.read_text())
    texts = [{"type": "text", "text": "{{ a }}"}, {"type": "text", "text": "{{ b }}"}]
    content["tools"]["registry"].append(tool("two", {"type": "mock", "content": texts}, parameters=_TEXTS))
    content["tools"]["sources"] = [{"type": "mcp", "upstream": "raw", "include": ["blocks"]}]
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Each call is answered, cut to the limit."""
    with RawClient(target.server.address) as client:
        for _ in range(_CALLS):
            long = "x" * (_LIMIT - 100)
            for name, arguments in (("blocks", {"count": _BLOCKS}), ("two", {"a": long, "b": long})):
                last = _content(client, name, arguments)[-1]["text"]
                assert "left out here" in last or "cut here" in last, last[-200:]


def _content(client: RawClient, name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    client.send(tool_call(name, arguments))
    content: list[dict[str, Any]] = client.answer().message["result"]["content"]
    return content


ATTACK = Attack(
    "I9.1.1",
    "30,000 blocks in one result",
    run,
    config=_config,
    memory_mib=128,
    descriptors=4,  # the upstream's pipes
)
