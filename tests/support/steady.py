"""A well-behaved client in a process of its own: a call every 50 ms, each of them timed.

with steady_caller(server.address) as caller:
    …
assert caller.slowest < 0.1
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

EVERY_S = 0.05


@dataclass
class Steady:
    """What the caller saw, known once it has ended: the seconds that each call took."""

    times: list[float] = field(default_factory=list[float])
    failure: str | None = None

    @property
    def slowest(self) -> float:
        assert self.failure is None, f"the steady client was cut off: {self.failure}"
        assert self.times
        return max(self.times)


@contextmanager
def steady_caller(address: tuple[str, int], request: bytes) -> Generator[Steady]:
    """Have ``request`` sent to ``address`` every 50 ms, on one connection, as long as the block runs."""
    seen = Steady()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, address[0], str(address[1]), request.hex()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == b"calling\n"
        yield seen
        process.stdin.close()
        said = json.loads(process.stdout.read())
        seen.times, seen.failure = said["times"], said["failure"]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _call(connection: socket.socket, request: bytes) -> None:
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = connection.recv(65_536)
        if not piece:
            raise ConnectionError("closed")
        answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.splitlines()[0]:
        raise ConnectionError(repr(answer))
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < length:
        body += connection.recv(65_536)


def _main(host: str, port: str, request: str) -> None:
    import select

    times: list[float] = []
    failure = None
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wait = 0.0
        try:
            while not select.select([sys.stdin], [], [], wait)[0]:
                started = time.monotonic()
                _call(connection, bytes.fromhex(request))
                times.append(time.monotonic() - started)
                wait = max(0.0, EVERY_S - times[-1])
                if len(times) == 1:
                    print("calling", flush=True)
        except OSError as fault:
            failure = str(fault)
            print("calling" if not times else "", flush=True)
    print(json.dumps({"times": times, "failure": failure}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
