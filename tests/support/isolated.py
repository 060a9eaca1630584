"""Configs whose handlers run in worker processes."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.support.waiting import BOUND_S
from toolspan_server import load_config, running
from toolspan_server.live.runtime import Runtime

HANDLERS = Path(__file__).with_name("isolated_handlers.py")
_NAMES = ("pid", "loop", "power", "family", "wait", "sleep", "outcome", "environment")
_ANYTHING = {"type": "object", "additionalProperties": True}


def entry(name: str, handler: str, timeout_ms: int = 60_000, **implementation: Any) -> dict[str, Any]:
    """A tool of a handler."""
    return {
        "name": name,
        "description": f"The tool {name}.",
        "parameters": _ANYTHING,
        "implementation": {"type": "builtin", "handler": handler, **implementation},
        "timeout_ms": timeout_ms,
    }


def config(folder: Path, *more: dict[str, Any], limits: dict[str, int] | None = None, **rest: Any) -> Path:
    """A config with a tool for each handler of ``isolated_handlers.py``, a mock ``weather``, and ``more``."""
    registry = [entry(name, f"isolated_{name}") for name in _NAMES]
    weather = entry("weather", "")
    weather["implementation"] = {"type": "mock", "mock_response": "sunny"}
    path = folder / "toolspan.json"
    document = {
        "handlers": [str(HANDLERS)],
        "tools": {"registry": [*registry, weather, *more]},
        "limits": {"handler_processes": 2, **(limits or {})},
        **rest,
    }
    path.write_text(json.dumps(document))
    return path


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[Runtime]:
    """The running server of such a config."""
    with anyio.fail_after(BOUND_S):
        async with running(load_config(path)) as runtime:
            yield runtime


def noted(folder: Path, name: str = "noted") -> list[int]:
    """The processes that a handler has noted; none yet when it has not."""
    try:
        return [int(word) for word in (folder / name).read_text().split()]
    except FileNotFoundError:
        return []


def is_alive(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (ProcessLookupError, FileNotFoundError):
        return False
