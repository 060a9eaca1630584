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

from conformance.install import installed
from tests.support.mcp_peers import free_port
from tests.support.waiting import BOUND_S, eventually

PACKAGE = "@copilotkit/aimock@1.43.0"
_PROGRAM = Path("node_modules", "@copilotkit", "aimock", "dist", "cli.js")


@contextmanager
def aimock(fixtures: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """The base URL of a mock that answers by ``fixtures``, and with 503 what none of them matches."""
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


def _healthy(base: str) -> bool:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"{base}/health", timeout=1.0).status_code == 200
    return False
