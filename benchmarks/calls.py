"""Tool calls over stdio and HTTP, Toolspan beside the ``mcp`` package's low-level server, in one run.

    python -m benchmarks.calls [--rounds N] [--calls N]

See README.md in this folder for what is measured and how.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

PEERS = Path(__file__).parent / "peers"
TOOLSPAN = [sys.executable, "-m", "toolspan_server", "--config", str(PEERS / "toolspan.yaml")]
LOW_LEVEL = [sys.executable, str(PEERS / "low_level.py")]
SERVERS = {
    "toolspan": (TOOLSPAN, lambda port: [*TOOLSPAN, "--transport", "http", "--port", str(port)]),
    "mcp low-level": ([*LOW_LEVEL, "stdio"], lambda port: [*LOW_LEVEL, "http", str(port)]),
}
CONNECTIONS = 8
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}

Measure = tuple[str, str, Callable[[str], float]]


def line(request_id: int, method: str, params: dict[str, Any]) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode() + b"\n"
    )


def echo(request_id: int, **more: Any) -> dict[str, Any]:
    return {"name": "echo", "arguments": {"text": f"call {request_id}"}, **more}


class Stdio:
    """A server on stdio and a client that does nothing but write and read lines."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = os.fdopen(os.dup(self._process.stdout.fileno()), "rb")
        self.ask(line(0, "initialize", INITIALIZE))
        self._stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, request: bytes) -> bytes:
        self._stdin.write(request)
        return self._stdout.readline()

    def one_by_one(self, count: int) -> float:
        """Milliseconds a call, each waiting for the one before."""
        requests = [line(number, "tools/call", echo(number)) for number in range(1, count + 1)]
        started = time.perf_counter()
        for number, request in enumerate(requests, 1):
            assert f"call {number}".encode() in self.ask(request)
        return (time.perf_counter() - started) * 1000 / count

    def pipelined(self, count: int) -> float:
        """Calls a second, all written without waiting."""
        requests = b"".join(line(number, "tools/call", echo(number)) for number in range(1, count + 1))
        started = time.perf_counter()
        writer = threading.Thread(target=self._write_all, args=(requests,))
        writer.start()
        for _ in range(count):
            assert b"call " in self._stdout.readline()
        elapsed = time.perf_counter() - started
        writer.join()
        return count / elapsed

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._stdin.write(view) or 0 :]


class Http:
    """A server on HTTP and raw keep-alive connections to it (protocol 2026-07-28)."""

    def __init__(self, command: Callable[[int], list[str]]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._process = subprocess.Popen(
            command(self._port), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 20
        while not self._answers():
            if time.monotonic() > end:
                raise RuntimeError(f"no server at port {self._port}")
            time.sleep(0.02)

    def one_by_one(self, count: int) -> float:
        """Milliseconds a call on one connection."""
        return asyncio.run(self._drive(1, count)) * 1000 / count

    def side_by_side(self, count: int) -> float:
        """Calls a second over ``CONNECTIONS`` connections."""
        each = count // CONNECTIONS
        return each * CONNECTIONS / asyncio.run(self._drive(CONNECTIONS, each))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True

    async def _drive(self, connections: int, each: int) -> float:
        opened = [await asyncio.open_connection("127.0.0.1", self._port) for _ in range(connections)]
        started = time.perf_counter()
        await asyncio.gather(*(self._calls(reader, writer, each) for reader, writer in opened))
        elapsed = time.perf_counter() - started
        for _, writer in opened:
            writer.close()
        return elapsed

    async def _calls(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: int) -> None:
        for number in range(count):
            body = line(number, "tools/call", echo(number, _meta=META))
            writer.write(
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
                "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                f"Mcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            assert f"call {number}".encode() in await reader.readexactly(size)


def start_to_list(command: list[str]) -> float:
    """Milliseconds from starting the process to its answer to ``tools/list``."""
    started = time.perf_counter()
    server = Stdio(command)
    assert b"greet" in server.ask(line(1, "tools/list", {}))
    elapsed = time.perf_counter() - started
    server.close()
    return elapsed * 1000


@contextmanager
def measures(calls: int) -> Iterator[list[Measure]]:
    """What is measured: name, unit, and the function from a server's name to a figure."""
    with ExitStack() as stack:
        stdio = {name: Stdio(command) for name, (command, _) in SERVERS.items()}
        http = {name: Http(command) for name, (_, command) in SERVERS.items()}
        for close in [each.close for each in stdio.values()] + [each.close for each in http.values()]:
            stack.callback(close)
        yield [
            ("stdio: start to first tools/list", "ms", lambda name: start_to_list(SERVERS[name][0])),
            ("stdio: one call", "ms", lambda name: stdio[name].one_by_one(calls)),
            ("stdio: pipelined", "calls/s", lambda name: stdio[name].pipelined(calls * 4)),
            ("HTTP: one call", "ms", lambda name: http[name].one_by_one(calls)),
            (f"HTTP: {CONNECTIONS} connections", "calls/s", lambda name: http[name].side_by_side(calls * 4)),
        ]


def measured(rounds: int, calls: int) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Each measure's medians. Servers take turns within a round; a first round warms up and is dropped."""
    with measures(calls) as wanted:
        figures: dict[tuple[str, str], dict[str, list[float]]] = {
            (title, unit): {name: [] for name in SERVERS} for title, unit, _ in wanted
        }
        for number in range(rounds + 1):
            for title, unit, measure in wanted:
                for name in SERVERS if number % 2 else reversed(SERVERS):
                    figures[title, unit][name].append(measure(name))
    for (title, unit), by_server in figures.items():
        yield title, unit, {name: statistics.median(values[1:]) for name, values in by_server.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=500)
    options = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} CPUs")
    print(f"Python {platform.python_version()}, mcp {version('mcp')}, uvicorn {version('uvicorn')}")
    print(f"{options.rounds} rounds after one to warm up; medians\n")
    print(f"{'':34}{'toolspan':>12}{'mcp low-level':>16}{'':9}{'toolspan is':>14}")
    for title, unit, medians in measured(options.rounds, options.calls):
        ours, theirs = medians["toolspan"], medians["mcp low-level"]
        faster = theirs / ours if unit == "ms" else ours / theirs
        print(f"{title:34}{ours:12,.2f}{theirs:16,.2f} {unit:8}{faster:10.2f} x as fast")


if __name__ == "__main__":
    main()
