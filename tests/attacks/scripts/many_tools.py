"""An upstream that lists 50,000 tools, all of which are taken, and a client that reads the whole list."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.raw_http import request
from tests.support.served import BOUND_S, MODERN_META, until, write_config

from ..attack import Attack, Target

_COUNT = 50_000
_SERVER = Path(__file__).parents[2] / "support" / "mcp_servers" / "pages.py"


def _config(folder: Path) -> Path:
    upstream = {"command": sys.executable, "args": [str(_SERVER), str(_COUNT)], "connect_seconds": BOUND_S}
    limits = {"max_tools": 100_000, "max_pages": 1_000}
    config = write_config(folder, services={"upstreams": {"many": {**upstream, **limits}}})
    content = json.loads(config.read_text())
    content["tools"]["sources"] = [{"type": "mcp", "upstream": "many"}]
    config.write_text(json.dumps(content))
    return config


def run(target: Target) -> None:
    """Wait for the tools, then list them page by page."""
    until(lambda: _health(target)["sources"][0]["tools"] == _COUNT, "the tools")
    count, cursor = 0, None
    while count == 0 or cursor:
        page = _listed(target, cursor)
        count, cursor = count + len(page["tools"]), page.get("nextCursor")
    assert count >= _COUNT, count


def _health(target: Target) -> dict[str, Any]:
    answer = target.server.exchange(request("GET", "/readyz", ("connection", "close")))
    return json.loads(answer.partition(b"\r\n\r\n")[2])  # type: ignore[no-any-return]  # it is an object


def _listed(target: Target, cursor: str | None) -> dict[str, Any]:
    params = {"_meta": MODERN_META, **({"cursor": cursor} if cursor else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
    headers = (
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
        ("connection", "close"),
    )
    answer = target.server.exchange(request("POST", "/mcp", *headers, body=json.dumps(message).encode()))
    return json.loads(answer.partition(b"\r\n\r\n")[2])["result"]  # type: ignore[no-any-return]


ATTACK = Attack("I9.2.15", "an upstream of 50,000 tools", run, config=_config, memory_mib=400, descriptors=4)
