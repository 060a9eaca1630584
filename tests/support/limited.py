"""A server of low limits, so that a test reaches them at once."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.support.raw_http import request
from tests.support.served import Served, http_server, write_config

LIMITS = {
    "message_bytes": 400_000,
    "header_bytes": 8_192,
    "headers": 40,
    "connections": 20,
    "head_seconds": 2.0,
    "body_seconds": 2.5,
    "idle_seconds": 2.0,
    "write_seconds": 2.0,
    "result_bytes": 16_777_216,
}


@contextmanager
def limited_server(folder: Path) -> Generator[Served]:
    """A server with ``LIMITS``, its config in ``folder``; no input may have left it with a traceback."""
    with http_server(write_config(folder, "wait", "large", "fault", limits=LIMITS)) as served:
        yield served
        assert "Traceback" not in served.errors.text


def alive(server: Served) -> bool:
    """Whether the server answers."""
    return server.exchange(request("GET", "/healthz", ("connection", "close"))).endswith(b"ok\n")
