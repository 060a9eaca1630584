"""``@copilotkit/aimock``: a provider that others wrote, for every wire. A peer for answers, not for requests:
it takes almost anything."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from conformance.install import installed
from tests.support.foreign_programs import NODE_TESTS
from tests.support.mcp_peers import free_port
from tests.support.waiting import BOUND_S, eventually

PACKAGE = "@copilotkit/aimock@1.43.0"
NOT_RUN = "NOT RUN: aimock; set TOOLSPAN_NODE_TESTS=1 to install it from npm and run it"
_PROGRAM = Path("node_modules", "@copilotkit", "aimock", "dist", "cli.js")


def call(name: str, arguments: Any, call_id: str) -> dict[str, Any]:
    """A tool call of a fixture's response."""
    return {"id": call_id, "name": name, "arguments": arguments}


def fixture(said: str, response: Any, **match: Any) -> dict[str, Any]:
    """The response to a last message of the user that holds ``said``."""
    return {"match": {"userMessage": said, **match}, "response": response}


def in_two_legs(said: str, response: Any, seen: str, answer: str) -> list[dict[str, Any]]:
    """Calls, then ``answer`` when the results hold ``seen``."""
    return [
        fixture(said, response, hasToolResult=False),
        fixture(said, {"content": answer}, hasToolResult=True, toolResultContains=seen),
        fixture(said, {"content": "RESULT NOT SEEN"}, hasToolResult=True),
    ]


@contextmanager
def aimock(fixtures: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """The base URL of a mock that answers by ``fixtures``, and with 503 what none of them matches.

    Skips the test, aloud, where programs of Node are not to be run.
    """
    if not NODE_TESTS:
        pytest.skip(f"Node.js: {NOT_RUN}")
    file = folder / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}), "utf-8")
    port = free_port()
    command = [*installed(PACKAGE, _PROGRAM), "-p", str(port), "-f", str(file), "--strict"]
    with (folder / "aimock.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            base = f"http://127.0.0.1:{port}"
            assert eventually(lambda: _healthy(base)), "aimock does not answer"
            yield base
        finally:
            process.terminate()
            process.wait(BOUND_S)


def last_heard(base: str) -> list[dict[str, Any]]:
    """The messages of the last request, as the mock reads its wire: those of Chat Completions."""
    messages: list[dict[str, Any]] = httpx2.get(f"{base}/__aimock/journal").json()[-1]["body"]["messages"]
    return messages


def _healthy(base: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{base}/health", timeout=1.0).status_code == 200
    return False
