"""Clients that no one here wrote do everything that a server can be asked for, over every transport.

The TypeScript SDKs come from npm and FastMCP from PyPI, each into a cache folder of its own; set
TOOLSPAN_NODE_TESTS=1 to let the tests install them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.foreign_programs import CACHE, NODE_TESTS, output_of, python_with
from tests.support.served import Served, command, http_server

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parent
CONFIG = FOLDER / "config.yaml"
NODE_PACKAGES = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0")
FASTMCP = "fastmcp==4.1.2"
RUN_S = 60

WAYS = [
    *[("client_v1.mjs", transport, False) for transport in ("stdio", "http", "sse")],
    *[("client_v2.mjs", transport, False) for transport in ("stdio", "http", "sse")],
    *[("client_v2.mjs", transport, True) for transport in ("stdio", "http")],
    *[("client_fastmcp.py", transport, False) for transport in ("stdio", "http", "sse")],
]


@pytest.fixture(scope="module")
def http() -> Iterator[Served]:
    with http_server(CONFIG) as served:
        yield served


def runner(client: str) -> list[str]:
    """The command that runs ``client``, with what it needs installed."""
    if not NODE_TESTS:
        pytest.skip("NOT RUN: other people's clients; set TOOLSPAN_NODE_TESTS=1 to install and run them")
    if client.endswith(".py"):
        return [str(python_with("fastmcp", FASTMCP)), str(FOLDER / client)]
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("NOT RUN: the TypeScript clients; Node.js with npm is not installed")
    folder = CACHE / "node"
    if not (folder / "node_modules" / "@modelcontextprotocol" / "client").exists():
        folder.mkdir(parents=True, exist_ok=True)
        output_of([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *NODE_PACKAGES])
    for script in FOLDER.glob("*.mjs"):
        shutil.copy(script, folder)
    return [node, str(folder / client)]


@pytest.mark.node
@pytest.mark.xdist_group("interop")
@pytest.mark.requirement("I4.5.1")
@pytest.mark.parametrize(("client", "transport", "modern"), WAYS)
def test_a_client_lists_calls_hears_progress_answers_and_gives_up(
    http: Served, client: str, transport: str, modern: bool
) -> None:
    path = {"stdio": "", "http": "/mcp", "sse": "/sse"}[transport]
    target: dict[str, Any] = {
        "transport": transport,
        "modern": modern,
        "command": command("--config", CONFIG),
        "url": http.url + path,
    }
    seen = json.loads(output_of([*runner(client), json.dumps(target)], RUN_S).splitlines()[-1])
    assert seen == {
        "tools": ["add", "count", "paint", "wait"],
        "add": "4",
        "count": "counted",
        "progress": [[1, 3, "one"], [2, 3, "two"], [3, 3, "three"]],
        "paint": "The door is green.",
        "asked": ["What colour shall the door have?"],
        "cancelled": True,
        "afterwards": "4",
        "prompt": "Hello Ada",
        "resource": "Welcome aboard.",
    }
