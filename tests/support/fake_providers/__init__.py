"""Providers that stand on loopback and are strict: what a real one would refuse, they refuse and remember.

``FakeProvider(check, replies)`` serves in a thread. ``check`` looks at every request and returns what is
wrong with it, or ``""``; then the next of ``replies`` is sent. Leaving the ``with`` fails when a request was
refused.
The checks of each provider are in the modules beside this one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.support.waiting import BOUND_S


@dataclass(frozen=True)
class Received:
    """One request as it came over the wire: ``target`` is raw, header names are lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Sent:
    """One answer. ``body`` is JSON unless it is bytes already. ``hang_up`` closes the connection instead, and
    ``stall`` keeps it open and silent until the fake stops.

    ``frames`` are sent as a stream, one by one. After the last, ``hang_up`` cuts the stream, ``stall`` keeps
    it open, and ``drip`` is sent over and over until the client leaves.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hang_up: bool = False
    stall: bool = False
    frames: Sequence[bytes] | None = None
    drip: bytes = b""


class FakeProvider:
    """A provider of canned answers. ``received`` holds the requests, ``connections`` how many were opened."""

    def __init__(self, check: Callable[[Received], str], replies: Sequence[Sent]) -> None:
        self.received: list[Received] = []
        self.refused: list[str] = []
        self.connections = 0
        self._check = check
        self._replies = list(replies)
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join(BOUND_S)
        self._server.server_close()
        if kind is None:
            assert not self.refused, self.refused

    def respond(self, request: Received) -> Sent:
        self.received.append(request)
        if problem := self._check(request):
            self.refused.append(problem)
            return Sent({"error": {"message": problem, "code": 400}}, status=400)
        if not self._replies:
            self.refused.append(f"one request too many: {request.method} {request.target}")
            return Sent({"error": {"message": "no reply is left"}}, status=400)
        return self._replies.pop(0)

    def wait_for_stop(self) -> None:
        self._stopping.wait(BOUND_S)

    def stopping(self, seconds: float) -> bool:
        return self._stopping.wait(seconds)


def _handler(fake: FakeProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            fake.connections += 1

        def handle(self) -> None:
            with suppress(ConnectionResetError):  # a client that leaves in the middle of an answer
                super().handle()

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            content = self.rfile.read(int(headers.get("content-length", 0)))
            sent = fake.respond(Received(self.command, self.path, headers, content))
            if sent.frames is not None:
                _stream(self, fake, sent, sent.frames)
                return
            if sent.stall:
                fake.wait_for_stop()
            if sent.stall or sent.hang_up:
                self.close_connection = True
                return
            body = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
            self.send_response_only(sent.status)
            for name, value in {"content-type": "application/json", **sent.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """The tests look at ``received`` instead."""

    return Handler


def _stream(to: BaseHTTPRequestHandler, fake: FakeProvider, sent: Sent, frames: Sequence[bytes]) -> None:
    to.send_response_only(sent.status)
    for name, value in {"content-type": "text/event-stream", **sent.headers}.items():
        to.send_header(name, value)
    to.send_header("transfer-encoding", "chunked")
    to.end_headers()
    with suppress(OSError):  # the client may leave at any moment
        for frame in filter(None, frames):
            to.wfile.write(_chunk(frame))
        while sent.drip and not fake.stopping(0.005):
            to.wfile.write(_chunk(sent.drip))
        if sent.stall:
            fake.wait_for_stop()
        if not sent.hang_up:
            to.wfile.write(b"0\r\n\r\n")
    to.close_connection = sent.hang_up or sent.stall or bool(sent.drip)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def anything(request: Received) -> str:
    """A check that finds nothing wrong."""
    return ""
