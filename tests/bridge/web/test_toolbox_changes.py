"""What servers do by themselves is told to whoever follows the events of the app."""

from __future__ import annotations

import json
import sys
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.support.web_app import CONFIG, web_app

pytestmark = [pytest.mark.long, pytest.mark.requirement("I15.2.26")]

TALKER = Path(__file__).parents[2] / "support" / "mcp_servers" / "talker.py"


def following(stream: HTTPResponse, name: str) -> dict[str, Any]:
    """The data of the next event of that ``name``."""
    while stream.readline() != f"event: {name}\n".encode():
        pass
    data: dict[str, Any] = json.loads(stream.readline().removeprefix(b"data: "))
    return data


def test_a_list_that_grows_and_a_server_that_dies_are_told(tmp_path: Path) -> None:
    servers = {"talker": {"command": sys.executable, "args": [str(TALKER), "old"]}}
    with web_app(tmp_path, config=f"{CONFIG}mcpServers: {json.dumps(servers)}\n") as app:
        stream = app.opened("GET", "/api/events")
        before = app.ask("GET", "/api/health").json["tools"]
        call = {"server": "talker", "approved": True}
        assert app.ask("POST", "/api/tools/call", {"name": "grow", **call}).json["success"]
        assert following(stream, "tools_changed") == {"tools": before + 1}
        assert not app.ask("POST", "/api/tools/call", {"name": "die", **call}).json["success"]
        assert following(stream, "server_changed") == {"name": "talker"}
