"""A well-behaved client in a process of its own: a call every 50 ms, each of them measured.

with steady_caller(server.address, request, server.process.pid) as caller:
    …
assert caller.busiest < 50 * reference()

A server may close a connection that is idle, and refuse new ones for a moment, where all places are taken: as
any client does, this one then connects anew, until it is served within ``_SERVED_WITHIN_S``.

How long a call took (``slowest``) is worth a look, but depends on what else the machine does. How long the
server computed meanwhile (``busiest``) tells by how much others delayed the call.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

EVERY_S = 0.05
_SERVED_WITHIN_S = 10.0


@dataclass
class Steady:
    """What the caller saw, known once it has ended: the seconds of each call, and how many of them the server
    computed, in all of its threads."""

    times: list[float] = field(default_factory=list[float])
    worked: list[float] = field(default_factory=list[float])
    failure: str | None = None

    @property
    def slowest(self) -> float:
        assert self.failure is None, f"the steady client was cut off: {self.failure}"
        assert self.times
        return max(self.times)

    @property
    def busiest(self) -> float:
        assert self.failure is None, f"the steady client was cut off: {self.failure}"
        return max(self.worked)


@contextmanager
def steady_caller(address: tuple[str, int], request: bytes, pid: int) -> Generator[Steady]:
    """Have ``request`` sent to process ``pid`` every 50 ms, on one connection, as long as the block runs."""
    seen = Steady()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, address[0], str(address[1]), request.hex(), str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == b"calling\n"
        yield seen
        process.stdin.close()
        said = json.loads(process.stdout.read())
        seen.times, seen.worked, seen.failure = said["times"], said["worked"], said["failure"]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


class _NoPlace(ConnectionError):
    """The connection was closed before anything was answered, or refused for want of a place."""


class _Caller:
    """A connection, and another one where it makes room for others."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._connection = self._connected()

    def call(self, request: bytes) -> None:
        end = time.monotonic() + _SERVED_WITHIN_S
        while True:
            try:
                return _call(self._connection, request)
            except (_NoPlace, ConnectionResetError, BrokenPipeError):
                if time.monotonic() > end:
                    raise
            self._connection.close()
            time.sleep(EVERY_S)
            self._connection = self._connected()

    def _connected(self) -> socket.socket:
        connection = socket.create_connection(self._address, timeout=120)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _call(connection: socket.socket, request: bytes) -> None:
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = connection.recv(65_536)
        if not piece:
            raise ConnectionError(f"closed after {answer!r}") if answer else _NoPlace("closed")
        answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.splitlines()[0]:
        refused = b" 503 " in head.splitlines()[0] and b"limits.connections" in body
        raise (_NoPlace if refused else ConnectionError)(repr(answer))
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < length:
        body += connection.recv(65_536)


def _computed(pid: str) -> float:
    """The seconds of processor time that a process has had."""
    with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123 - pathlib takes long to import
        fields = stat.read().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _main(host: str, port: str, request: str, pid: str) -> None:
    import select

    times: list[float] = []
    worked: list[float] = []
    failure = None
    caller, wait = _Caller(host, int(port)), 0.0
    try:
        while not select.select([sys.stdin], [], [], wait)[0]:
            before, started = _computed(pid), time.monotonic()
            caller.call(bytes.fromhex(request))
            times.append(time.monotonic() - started)
            worked.append(_computed(pid) - before)
            wait = max(0.0, EVERY_S - times[-1])
            if len(times) == 1:
                print("calling", flush=True)
    except OSError as fault:
        failure = str(fault)
        print("calling" if not times else "", flush=True)
    print(json.dumps({"times": times, "worked": worked, "failure": failure}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
