"""What a config serves, as its own server says: the tools of its sources, and what these leave out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import UnreachableError, UsageError

_SECONDS = 120.0
_UNREACHABLE = ("connection_failed", "timeout")


@dataclass(frozen=True, slots=True)
class Described:
    """The names of the ``tools``, and each operation that a source left out: ``GET /users: why``."""

    tools: Sequence[str]
    left_out: Sequence[str]


def described(config: Path) -> Described:
    """What the server of ``config`` serves, once its sources were read.

    Raises ``UsageError`` when a source cannot be used, ``UnreachableError`` when nothing answers there.
    """
    found = server_description("--config", str(config))
    for source in found["sources"]:
        _check(source)
    left_out = [each for source in found["sources"] for each in source.get("omitted", ())]
    return Described([tool["name"] for tool in found["tools"]], left_out)


def server_description(*options: str) -> dict[str, Any]:
    """What ``toolspan-server`` with ``options`` would serve, with the state of its sources and services.

    ``{"name", "tools": [{"name", "tags", …}], "sources": [{"state", …}], "services": {…}}``. Raises
    ``UsageError`` with what it says where it cannot start, and ``UnreachableError``.
    """
    command = [sys.executable, "-P", "-m", "toolspan_server", *options, "--describe"]
    try:
        done = subprocess.run(
            [*command, "--log-level", "critical"], stdin=subprocess.DEVNULL, capture_output=True,
            encoding="utf-8", errors="replace", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UnreachableError(f"its tools were not known within {_SECONDS:g} s") from None
    if done.returncode:
        raise UsageError(done.stderr.strip() or f"its server ended with {done.returncode}")
    return cast("dict[str, Any]", json.loads(done.stdout))


def _check(source: dict[str, Any]) -> None:
    if source["state"] == "ready":
        return
    error = UnreachableError if source.get("error_code") in _UNREACHABLE else UsageError
    why = source.get("error", "it did not offer its tools in time")
    raise error(f"{source.get('name', source['type'])}: {why}")
