"""A raw HTTP client that keeps connections busy: one request at a time on each, the next at once."""

from __future__ import annotations

import selectors
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Self

from . import messages
from .processes import free_port, start, stop, wait_for_port

_FIRST_ID = 10_000_000
_TIMEOUT_S = 30


@dataclass
class Outcome:
    """Calls a second, and each call's seconds, sorted."""

    per_second: float
    latencies: list[float]

    def percentile(self, share: float) -> float:
        """The latency, in milliseconds, that ``share`` of the calls did not exceed."""
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))] * 1000


class Http:
    """A server's process and its port."""

    def __init__(self, command: Callable[[int], Sequence[str]]) -> None:
        self._port = free_port()
        self.process: subprocess.Popen[bytes] = start(command(self._port), pipes=False)
        try:
            wait_for_port(self._port, self.process)
        except RuntimeError:
            stop(self.process)
            raise

    def drive(self, era: str, *, connections: int, seconds: float) -> Outcome:
        """Call ``echo`` over ``connections`` kept-open connections for ``seconds``; check every answer."""
        return _Drive(self._port, era).run(connections, seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop(self.process)


@dataclass
class _Connection:
    socket: socket.socket
    sent: float = 0.0
    request_id: int = 0
    received: bytes = b""


@dataclass
class _Drive:
    port: int
    era: str
    latencies: list[float] = field(default_factory=list[float])
    last_id: int = _FIRST_ID

    def run(self, connections: int, seconds: float) -> Outcome:
        opened = [self._open() for _ in range(connections)]
        with selectors.DefaultSelector() as selector:
            for one in opened:
                selector.register(one.socket, selectors.EVENT_READ, one)
            began = perf_counter()
            for one in opened:
                self._send(one)
            while perf_counter() - began < seconds or not self.latencies:
                ready = selector.select(_TIMEOUT_S)
                if not ready:
                    raise RuntimeError(f"no answer for {_TIMEOUT_S} s from port {self.port}")
                for key, _ in ready:
                    self._receive(key.data)
            elapsed = perf_counter() - began
        for one in opened:
            one.socket.close()
        return Outcome(len(self.latencies) / elapsed, sorted(self.latencies))

    def _open(self) -> _Connection:
        connected = socket.create_connection(("127.0.0.1", self.port))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _Connection(connected)

    def _send(self, one: _Connection) -> None:
        self.last_id += 1
        one.request_id = self.last_id
        request = _request(self.port, self.era, self.last_id)
        one.sent = perf_counter()
        one.socket.sendall(request)

    def _receive(self, one: _Connection) -> None:
        chunk = one.socket.recv(65_536)
        one.received += chunk
        if not chunk:
            raise RuntimeError(f"port {self.port} hung up after {one.received[:200]!r}")
        if not _complete(one.received):
            return
        self.latencies.append(perf_counter() - one.sent)
        messages.check(one.received, one.request_id)
        one.received = b""
        self._send(one)


_heads: dict[tuple[int, str], tuple[bytes, bytes]] = {}


def _request(port: int, era: str, request_id: int) -> bytes:
    """A whole request; all ids have as many digits, so that only they differ."""
    if (port, era) not in _heads:
        body = messages.echo(_FIRST_ID, era=era)
        modern = "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n" if era == messages.MODERN else ""
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {era}\r\n"
            f"{modern}Content-Length: {len(body)}\r\n\r\n"
        )
        _heads[port, era] = head.encode(), body
    start_of, body = _heads[port, era]
    return start_of + body.replace(b"%d" % _FIRST_ID, b"%d" % request_id)


def _complete(received: bytes) -> bool:
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = received[:end].lower()
    if not head.startswith(b"http/1.1 200"):
        raise RuntimeError(f"answered with {received[:500]!r}")
    if (at := head.find(b"content-length:")) >= 0:
        return len(received) >= end + 4 + int(head[at + 15 :].partition(b"\r\n")[0])
    return received.endswith(b"0\r\n\r\n")
