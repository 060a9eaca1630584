"""HTTP spoken in bytes: requests as wrong as a test wants them, and whatever comes back."""

from __future__ import annotations

import json
import re
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from tests.support.served import BOUND_S, MODERN_META, call

HOST = ("host", "localhost")


@dataclass(frozen=True)
class Answer:
    """One answer of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """The JSON of the body."""
        return json.loads(self.body)


def request(
    method: str,
    path: str,
    *headers: tuple[str, str],
    body: bytes | None = None,
    version: str = "HTTP/1.1",
    host: tuple[str, str] | None = HOST,
) -> bytes:
    """A request; with a body, its length is declared."""
    lines = [f"{method} {path} {version}"]
    lines += [f"{name}: {value}" for name, value in ((host, *headers) if host else headers)]
    lines += [] if body is None else [f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def tool_headers(name: str) -> tuple[tuple[str, str], ...]:
    """The headers of a ``tools/call`` of the modern era."""
    return (
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name),
    )


def tool_body(name: str, arguments: dict[str, Any] | None = None, request_id: int | str = 1) -> bytes:
    """The body of such a call."""
    message = call(request_id, name, arguments or {})
    return json.dumps({**message, "params": {**message["params"], "_meta": MODERN_META}}).encode()


def tool_call(
    name: str, arguments: dict[str, Any] | None = None, *headers: tuple[str, str], request_id: int | str = 1
) -> bytes:
    """A whole ``tools/call`` of the modern era."""
    body = tool_body(name, arguments, request_id)
    return request("POST", "/mcp", *tool_headers(name), *headers, body=body)


def chunked(*pieces: bytes, trailers: bytes = b"") -> bytes:
    """``pieces`` as a chunked body."""
    frames = (b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return b"".join(frames) + b"0\r\n" + trailers + b"\r\n"


class RawClient:
    """A connection of bytes, from ``source`` if that is given: another address of loopback."""

    def __init__(
        self, address: tuple[str, int], *, receive_buffer: int | None = None, source: str | None = None
    ) -> None:
        self.socket = socket.socket()
        if source is not None:
            self.socket.bind((source, 0))
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(BOUND_S)
        self.socket.connect(address)
        self._read = bytearray()

    def send(self, *parts: bytes) -> Self:
        """Send bytes; that the server has closed already is no failure."""
        try:
            for part in parts:
                self.socket.sendall(part)
        except ConnectionError:
            pass
        return self

    def answer(self, *, of_head: bool = False) -> Answer:
        """The next answer, whole."""
        end = self._until(b"\r\n\r\n")
        status, *lines = bytes(self._take(end)).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        number = int(status.split()[1])
        if number in (100, 204, 304):
            return Answer(number, headers, b"")
        return Answer(number, headers, b"" if of_head else self._body(headers))

    def answers(self, count: int) -> list[Answer]:
        """The next ``count`` answers."""
        return [self.answer() for _ in range(count)]

    def line(self, wanted: bytes) -> bytes:
        """The first line that begins with ``wanted``, once it has come."""
        while True:
            line = bytes(self._take(self._until(b"\n"))).strip()
            if line.startswith(wanted):
                return line

    def rest(self) -> bytes:
        """All that comes until the server closes."""
        while self._more():
            continue
        return bytes(self._take(len(self._read)))

    def is_told_anything(self) -> bool:
        """Whether something has come that was not read yet."""
        return bool(self._read or select.select([self.socket], [], [], 0)[0])

    def has_ended(self) -> bool:
        """Whether the server has closed by now; what it said before is left aside."""
        self.socket.setblocking(False)
        try:
            while self._more():
                continue
        except BlockingIOError:
            return False
        return True

    def drip(self, pieces: Sequence[bytes], every: float, most: float = BOUND_S) -> bytes:
        """Send ``pieces`` over and over, one each ``every`` seconds; what came until the server closed."""
        started = time.monotonic()
        self.socket.settimeout(every)
        position = 0
        while time.monotonic() - started < most:
            try:
                if pieces:
                    self.socket.sendall(pieces[position % len(pieces)])
                position += 1
                if not self._more():
                    return bytes(self._read)
            except TimeoutError:
                continue
            except ConnectionError:
                self.socket.settimeout(BOUND_S)
                return self.rest()
        raise AssertionError(f"the server did not close in {most} s; it said {bytes(self._read)!r}")

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            pieces = b""
            while size := int(self._take(self._until(b"\r\n")), 16):
                pieces += self._exactly(size + 2)[:-2]
            self._exactly(2)
            return pieces
        return self._exactly(int(headers["content-length"]))

    def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            assert self._more(), f"closed after {bytes(self._read)!r}"
        return bytes(self._take(size))

    def _until(self, mark: bytes) -> int:
        while (found := self._read.find(mark)) < 0:
            assert self._more(), f"closed after {bytes(self._read)!r}"
        return found + len(mark)

    def _take(self, size: int) -> bytearray:
        taken = self._read[:size]
        del self._read[:size]
        return taken

    def _more(self) -> bool:
        try:
            data = self.socket.recv(65_536)
        except ConnectionError:
            return False
        self._read += data
        return bool(data)


def statuses(text: bytes) -> list[int]:
    """The status of every answer in ``text``."""
    return [int(each) for each in re.findall(rb"HTTP/1\.1 (\d{3}) ", text)]
