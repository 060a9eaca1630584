"""More connections than there are places, which send nothing, half a head or half a body."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.support.raw_http import RawClient, request, tool_call, tool_headers
from tests.support.served import until, write_config

from ..attack import Attack, Target

_CONNECTIONS = 100
_HALF_BODY = request("POST", "/mcp", *tool_headers("echo"), ("content-length", "4000")) + b"{"
_BEGUN = (b"", b"GET /healthz HTTP/1.1\r\n", _HALF_BODY)


def _config(folder: Path) -> Path:
    return write_config(
        folder, limits={"connections": _CONNECTIONS, "head_seconds": 3_600, "body_seconds": 3_600}
    )


def run(target: Target) -> None:
    """A new client is served at once, whatever they began with; of half a body, soon."""
    for begun in _BEGUN:
        with ExitStack() as open_:
            for _ in range(2 * _CONNECTIONS):
                open_.enter_context(RawClient(target.server.address)).send(begun)
            until(lambda: _is_served(target), f"a place beside {begun[:20]!r}")


def _is_served(target: Target) -> bool:
    with RawClient(target.server.address) as client:
        return client.send(tool_call("echo", {"value": 1})).answer().status == 200


ATTACK = Attack("I9.2.12", "200 connections that ask nothing", run, config=_config)
