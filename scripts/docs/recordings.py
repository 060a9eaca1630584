"""When exchanges with live providers were recorded (``tests/recordings``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"


def recorded_by_provider(name: str) -> str:
    """When an exchange with the provider ``name`` was recorded last."""
    return _last("provider", name)


def recorded_by_format(name: str) -> str:
    """When an exchange in the format ``name`` was recorded last; ``prompt`` is over another."""
    return _last("format", name)


def _last(key: str, name: str) -> str:
    found = [
        (recorded["date"], recorded["provider"])
        for recorded in _recordings()
        if recorded[key].partition(":")[0].partition(".")[0] == name
    ]
    if not found:
        return "not yet recorded"
    date, provider = max(found)
    return f"recorded on {date}" + (f" (`{provider}`)" if key == "format" else "")


@cache
def _recordings() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text("utf-8")) for path in sorted(RECORDINGS.glob("*.json")))
