"""Real servers in subprocesses: ``python -m toolspan_server …``, with every wait bounded.

``write_config`` writes a config with three plain tools (``echo``, ``weather``, ``add``) and, of the
handlers in ``served_handlers.py``, any that a test asks for, in the server's process. ``http_server`` and
``StdioServer`` serve a config.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from tests.support.loop_watch import watched
from tests.support.waiting import BOUND_S

_HANDLERS = Path(__file__).with_name("served_handlers.py")
_READY = "toolspan: serving "
_ROOT = Path(__file__).parents[2]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "init",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tool(name: str, implementation: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An entry of ``tools.registry``."""
    return {"name": name, "description": f"The tool {name}.", "implementation": implementation, **more}


def write_config(folder: Path, *handlers: str, timeout_ms: int = 30_000, **more: Any) -> Path:
    """A config file in ``folder``: the plain tools, and one tool named as each of ``handlers``."""
    location = {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}
    registry = [
        tool(
            "echo",
            {"type": "builtin", "handler": "tests_echo", "isolation": "thread"},
            parameters={"type": "object", "properties": {"value": {}}},
        ),
        tool(
            "weather",
            {"type": "mock", "mock_response": {"temperature": 22, "condition": "sunny"}},
            parameters=location,
        ),
        tool("add", {"type": "mock", "mock_response": "4"}),
        *(
            tool(
                name,
                {"type": "builtin", "handler": f"tests_{name}", "isolation": "thread"},
                parameters={"type": "object", "additionalProperties": True},
            )
            for name in handlers
        ),
    ]
    path = folder / "toolspan.json"
    tools = {"registry": registry, "default_timeout_ms": timeout_ms}
    path.write_text(json.dumps({"handlers": [str(_HANDLERS)], "tools": tools, **more}))
    return path


def command(*arguments: str | Path) -> list[str]:
    """The command line of a server."""
    return [sys.executable, "-m", "toolspan_server", *map(str, arguments)]


def until(condition: Callable[[], object], what: str, bound: float = BOUND_S) -> None:
    """Return once ``condition`` holds; fail after ``bound`` seconds."""
    end = time.monotonic() + bound
    while not condition():
        assert time.monotonic() < end, f"waited {bound} s for {what}"
        time.sleep(0.01)


class Lines:
    """The lines of a stream, read as they come by a thread of their own."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._lines: list[bytes] = []
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._collect, args=(stream,), daemon=True).start()

    def first(self, wanted: Callable[[str], bool], bound: float = BOUND_S) -> str:
        """The first line that is ``wanted``, once it has come."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or any(map(wanted, self._texts())), bound)
            found = next(filter(wanted, self._texts()), None)
        assert found is not None, f"no such line in {bound} s; there were: {self._texts()}"
        return found

    def next(self, bound: float = BOUND_S) -> bytes:
        """Take the next line; fails when none comes."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._lines or self._ended, bound), f"no line in {bound} s"
            assert self._lines, "the stream has ended"
            return self._lines.pop(0)

    def rest(self, bound: float = BOUND_S) -> list[bytes]:
        """Every line until the stream ends."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._ended, bound), f"not ended in {bound} s"
            return self._lines[:]

    @property
    def text(self) -> str:
        """What has come so far."""
        with self._changed:
            return "\n".join(self._texts())

    def _texts(self) -> list[str]:
        return [line.decode("utf-8", "replace").rstrip("\n") for line in self._lines]

    def _collect(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._note(line)
        self._note(None)

    def _note(self, line: bytes | None) -> None:
        with self._changed:
            if line is None:
                self._ended = True
            else:
                self._lines.append(line)
            self._changed.notify_all()


@dataclass
class Served:
    """A running HTTP server. ``url`` has no path."""

    process: subprocess.Popen[bytes]
    errors: Lines
    url: str

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return "127.0.0.1" if host == "0.0.0.0" else host, int(port)

    def exchange(self, request: bytes) -> bytes:
        """Send raw bytes on a connection of their own; everything that comes back until it closes."""
        with socket.create_connection(self.address, timeout=BOUND_S) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal and wait until the process is gone."""
        stopped(self.process, lambda: self.process.send_signal(number))


def stopped(process: subprocess.Popen[bytes], act: Callable[[], object]) -> None:
    """Do ``act`` and wait until the process is gone. (What must not hold it lasts longer than this waits.)"""
    act()
    process.wait(BOUND_S)


@contextmanager
def http_server(
    config: Path, *arguments: str, env: dict[str, str] | None = None, watch: Path | None = None
) -> Iterator[Served]:
    """Serve ``config`` over HTTP at a free port of loopback. ``watch``: the event loop's stalls are written
    to that file (``loop_watch``)."""
    options = ("--transport", "http", "--port", "0", "--config", config, *arguments)
    line = command(*options)
    if watch is not None:
        line, env = watched(watch, "toolspan_server", *options), {**(env or {}), "PYTHONPATH": str(_ROOT)}
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(line, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, env=_env(env))
    assert process.stderr is not None
    errors = Lines(process.stderr)
    try:
        ready = errors.first(lambda text: text.startswith(_READY))
        url = ready.partition(" at ")[2].partition("/mcp")[0]
        yield Served(process, errors, url)
    finally:
        process.kill()
        process.wait(BOUND_S)
        process.stderr.close()


@contextmanager
def gateway_server(config: Path, *arguments: str, env: dict[str, str], watch: Path) -> Iterator[Served]:
    """The gateway over ``config``, whose event loop's stalls are written to ``watch``."""
    line = watched(watch, "toolspan_bridge", "gateway", "-c", config, "--port", "0", *arguments)
    nothing, own = subprocess.DEVNULL, {"PYTHONPATH": str(_ROOT), "XDG_STATE_HOME": str(config.parent), **env}
    process = subprocess.Popen(line, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, env=_env(own))
    assert process.stderr is not None
    errors = Lines(process.stderr)
    try:
        ready = errors.first(lambda text: " is at http://" in text)
        port = ready.partition("http://")[2].partition("/")[0].rpartition(":")[2]
        yield Served(process, errors, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait(BOUND_S)
        process.stderr.close()


class StdioServer:
    """A server on stdio, spoken to in bytes."""

    def __init__(self, config: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
        pipe = subprocess.PIPE
        line = command("--config", config, *arguments)
        self.process = subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, env=_env(env))
        assert self.process.stdin is not None and self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin = self.process.stdin
        self.stdout = self.process.stdout
        self.answers = Lines(self.stdout)
        self.errors = Lines(self.process.stderr)

    def send(self, *messages: bytes | dict[str, Any]) -> None:
        """Write each message, bytes as they are, on a line of its own."""
        lines = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages)
        self.stdin.write(b"".join(line + b"\n" for line in lines))
        self.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message."""
        return json.loads(self.answers.next())  # type: ignore[no-any-return]  # every message is an object

    def ask(self, message: bytes | dict[str, Any]) -> dict[str, Any]:
        """Send one message and receive one."""
        self.send(message)
        return self.receive()

    def handshake(self) -> Self:
        """Open a session of the 2025 era."""
        assert "result" in self.ask(INITIALIZE)
        self.send(INITIALIZED)
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal and wait until the process is gone."""
        stopped(self.process, lambda: self.process.send_signal(number))

    def close_input(self) -> None:
        """Close stdin and wait until the process is gone."""
        stopped(self.process, self.stdin.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(BOUND_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue


def call(request_id: int | str, name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """A ``tools/call`` request."""
    params = {"name": name, **({} if arguments is None else {"arguments": arguments}), **more}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def run(
    arguments: Sequence[str | Path], cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a server that ends by itself: a refused start, say."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=_env(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


def _env(extra: dict[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(extra or {})}
