"""The page of ``toolspan ui``: how soon it comes, and how much of it there is."""

from __future__ import annotations

import gzip
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from toolspan_bridge.web.page.assets import assets
from toolspan_bridge.web.page.routes import PLACE

from ..gateways import serving
from ..processes import free_port


@dataclass(frozen=True, slots=True)
class Page:
    """The median time to the first byte of the page and of its slowest file, in seconds; how many files
    there are for all of its views, and their bytes as sent and uncompressed."""

    first_s: float
    slowest_s: float
    files: int
    sent: int
    size: int


def page(rounds: int) -> Page:
    """Start the app, and load the page with all its files ``rounds`` times, each by a connection of its
    own."""
    names = list(assets())
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        config = Path(folder) / "toolspan.yaml"
        config.write_text("tools: {registry: []}\n")
        command = (sys.executable, "-m", "toolspan_bridge", "ui", "--no-open", "--port", str(port))
        with serving((*command, "--config", str(config)), port, folder):
            _get(port, PLACE)
            firsts = [_get(port, PLACE)[0] for _ in range(rounds)]
            loaded = [[_get(port, PLACE + name) for name in names] for _ in range(rounds)]
    slowest = max(median(each[place][0] for each in loaded) for place in range(len(names)))
    bodies = [body for _, body in loaded[0]]
    size = sum(len(gzip.decompress(body)) for body in bodies)
    return Page(median(firsts), slowest, len(names), sum(len(body) for body in bodies), size)


def _get(port: int, path: str) -> tuple[float, bytes]:
    """The seconds to the first byte of the answer, from before the connection, and its compressed body.

    Raises ``RuntimeError`` where there is none.
    """
    began = perf_counter()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connected:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept-Encoding: gzip\r\n"
        connected.sendall(f"{head}Connection: close\r\n\r\n".encode())
        received = connected.recv(65_536)
        seconds = perf_counter() - began
        while chunk := connected.recv(65_536):
            received += chunk
    top, _, body = received.partition(b"\r\n\r\n")
    if not top.startswith(b"HTTP/1.1 200") or b"content-encoding: gzip" not in top.lower():
        raise RuntimeError(f"{path}: {top[:300]!r}")
    return seconds, body
