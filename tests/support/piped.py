"""A server on stdio as a shell pipeline has it: input that ends, output read to its end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.served import command
from tests.support.waiting import BOUND_S


def piped(
    config: Path, *messages: bytes | dict[str, Any], end: bytes = b"\n"
) -> subprocess.CompletedProcess[bytes]:
    """Serve what ``printf … | toolspan-server`` would send."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
    return subprocess.run(
        command("--config", config),
        input=b"\n".join(lines) + end,
        capture_output=True,
        timeout=BOUND_S,
        check=False,
    )


def answers(done: subprocess.CompletedProcess[bytes]) -> dict[Any, dict[str, Any]]:
    """The answers on standard output, by their ids."""
    return {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}


def cancelled(request_id: Any) -> dict[str, Any]:
    """The notification that cancels a request."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


def peak_memory(pid: int) -> int:
    """The most memory that a process had at any time, in bytes; 0 where that isn't told."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
