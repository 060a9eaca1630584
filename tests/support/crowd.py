"""A crowd of clients on one HTTP server at once: good ones, whose every answer is checked, and bad ones.

    seen = crowd(server.address, clients=200, seconds=60)
    assert not seen.wrong and not seen.lost

Of ten clients seven are good: they call tools, in both eras, and wait for each answer. One sends slowly, one
never reads, one leaves in the middle of a call or has the upstream end.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.support.raw_http import request, tool_call
from tests.support.served import INITIALIZE, INITIALIZED, call

_JSON = (("content-type", "application/json"), ("accept", "application/json, text/event-stream"))
_PATIENCE_S = 60.0
_ERAS = ("2026-07-28", "2025-11-25")


@dataclass
class Seen:
    """What the good clients saw. ``wrong`` and ``lost`` hold a line for each such answer."""

    right: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])
    slowest: float = 0.0


class Line:
    """A kept-open connection; answers are read whole."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, sent: bytes) -> tuple[int, dict[str, str], bytes]:
        """The status, the headers and the body of the answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(*self._address)
        assert self._reader is not None
        self._writer.write(sent)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = _last_event(await _chunks(self._reader))
        else:
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection", "") == "close":
            self.close()
        return int(head[0].split()[1]), headers, body

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._writer is not None:
            self._writer.close()
        self._writer = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """A chunked body, whole."""
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


def _last_event(stream: bytes) -> bytes:
    """The data of the last event: the answer comes after what was reported meanwhile."""
    data = [line[6:] for line in stream.splitlines() if line.startswith(b"data: ")]
    return next((each for each in reversed(data) if each), b"")


class _Good:
    """A client that calls tools, one after the other, and checks each answer."""

    def __init__(self, number: int, address: tuple[str, int], seen: Seen) -> None:
        self._number = number
        self._line = Line(address)
        self._seen = seen
        self._chance = random.Random(number)
        self._era = _ERAS[number % 2]
        self._session: tuple[tuple[str, str], ...] | None = None
        self._calls = 0

    async def run(self, end: float) -> None:
        while time.monotonic() < end:
            started = time.monotonic()
            kind = self._chance.choice(("echo", "echo", "echo", "weather", "upstream"))
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._one(kind)
            except (OSError, EOFError, TimeoutError) as fault:
                self._seen.lost.append(f"client {self._number}, {kind}: {fault!r}")
                self._line.close()
            self._seen.slowest = max(self._seen.slowest, time.monotonic() - started)
            await asyncio.sleep(self._chance.random() * 0.2)
        self._line.close()

    async def _one(self, kind: str) -> None:
        self._calls += 1
        value = f"{self._number}/{self._calls}"
        name = "up.echo" if kind == "upstream" else kind
        arguments = {"location": value} if kind == "weather" else {"value": value}
        status, _, body = await self._line.ask(await self._request(name, arguments))
        answer = _message(body)
        if status != 200 or answer.get("id") != self._calls or not _right(kind, answer, value):
            self._seen.wrong.append(f"client {self._number}, {kind}: {status} {body[:300]!r}")
        else:
            self._seen.right[f"{kind}{' failed' if answer['result'].get('isError') else ''}"] += 1

    async def _request(self, name: str, arguments: dict[str, Any]) -> bytes:
        if self._era == "2026-07-28":
            return tool_call(name, arguments, request_id=self._calls)
        if self._session is None:
            self._session = await self._opened()
        body = json.dumps(call(self._calls, name, arguments)).encode()
        return request("POST", "/mcp", *_JSON, *self._session, body=body)

    async def _opened(self) -> tuple[tuple[str, str], ...]:
        _, headers, _ = await self._line.ask(
            request("POST", "/mcp", *_JSON, body=json.dumps(INITIALIZE).encode())
        )
        session = (("mcp-session-id", headers["mcp-session-id"]), ("mcp-protocol-version", self._era))
        await self._line.ask(request("POST", "/mcp", *_JSON, *session, body=json.dumps(INITIALIZED).encode()))
        return session


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _right(kind: str, answer: dict[str, Any], value: str) -> bool:
    result = answer.get("result")
    if not isinstance(result, dict):
        return False
    if kind == "upstream" and result.get("isError"):
        return True  # its server had just ended: an answer that says so is a right one
    text = result["content"][0]["text"]
    return value in text if kind != "weather" else "sunny" in text


async def _slow(address: tuple[str, int], end: float) -> None:
    """Send a request a byte at a time."""
    sent = tool_call("echo", {"value": "slow"})
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection(*address)
        try:
            for byte in sent[:-1]:
                if reader.at_eof() or writer.is_closing() or time.monotonic() > end:
                    break
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(0.05)
        except OSError:
            continue
        finally:
            writer.close()


async def _deaf(address: tuple[str, int], end: float) -> None:
    """Ask for large answers and read none."""
    loop = asyncio.get_running_loop()
    while time.monotonic() < end:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.setblocking(False)
            try:
                await loop.sock_connect(connection, address)
                await loop.sock_sendall(connection, tool_call("large", {"size": 200_000}) * 5)
                await asyncio.sleep(min(3.0, max(0.0, end - time.monotonic())))
            except OSError:
                await asyncio.sleep(0.1)


async def _leaving(number: int, address: tuple[str, int], end: float) -> None:
    """Leave in the middle of a call; some have the upstream's process end first."""
    chance = random.Random(number)
    while time.monotonic() < end:
        _, writer = await asyncio.open_connection(*address)
        deadly = chance.random() < 0.3
        writer.write(tool_call("up.die") if deadly else tool_call("wait", {"seconds": 60, "note": "left"}))
        await asyncio.sleep(chance.random())
        writer.close()


async def _all(address: tuple[str, int], clients: int, seconds: float) -> Seen:
    seen, end = Seen(), time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            match number % 10:
                case 7:
                    group.create_task(_slow(address, end))
                case 8:
                    group.create_task(_deaf(address, end))
                case 9:
                    group.create_task(_leaving(number, address, end))
                case _:
                    group.create_task(_Good(number, address, seen).run(end))
    return seen


def crowd(address: tuple[str, int], clients: int, seconds: float) -> Seen:
    """Let ``clients`` loose on the server for so long; what the good ones saw."""
    return asyncio.run(_all(address, clients, seconds))
