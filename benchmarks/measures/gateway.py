"""Requests to a gateway, and streams that it holds at once, by plain sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import dataclass
from time import perf_counter

_TIMEOUT_S = 120
_PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Streams:
    """Streams held at once: how many, how many of them came whole and unmixed, and the time of all."""

    count: int
    whole: int
    seconds: float


def one_request(port: int, model: str, requests: int) -> list[float]:
    """The seconds of each of ``requests`` requests, one after another on one connection."""
    seconds: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            request = _request(port, model, f"say hello-{number}", stream=False)
            began = perf_counter()
            connected.sendall(request)
            answer = _answer(connected)
            seconds.append(perf_counter() - began)
            if f"hello-{number}" not in json.loads(answer)["choices"][0]["message"]["content"]:
                raise RuntimeError(f"port {port} gave another answer: {answer[:300]!r}")
    return seconds


def first_texts(port: int, model: str, requests: int) -> list[float]:
    """The seconds to the first text of each of ``requests`` streams, one after another on one connection."""
    seconds: list[float] = []
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(requests):
            request = _request(port, model, f"stream 1 tag{number}", stream=True)
            text = f"tag{number}-0".encode()
            began = perf_counter()
            connected.sendall(request)
            received = b""
            while text not in received:
                received += _some(connected)
            seconds.append(perf_counter() - began)
            while not received.endswith(b"\r\n0\r\n\r\n"):
                received += _some(connected)
            if b"data: [DONE]" not in received:
                raise RuntimeError(f"port {port} ended otherwise: {received[-300:]!r}")
    return seconds


def streams(port: int, model: str, count: int, *, deltas: int) -> Streams:
    """Hold ``count`` streams of ``deltas`` deltas at once, and see which come whole. None goes on after its
    first delta before all have begun."""
    return asyncio.run(_streams(port, model, count, deltas))


async def _streams(port: int, model: str, count: int, deltas: int) -> Streams:
    began = perf_counter()
    asked = f"together {count} {deltas}"
    done = await asyncio.gather(*(_one_stream(port, model, asked, f"tag{n}", deltas) for n in range(count)))
    return Streams(count, sum(done), perf_counter() - began)


async def _one_stream(port: int, model: str, asked: str, tag: str, deltas: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(port, model, f"{asked} {tag}", stream=True))
    text = ""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            while line := await reader.readline():
                if line.startswith(b"data: [DONE]"):
                    break
                if line.startswith(b"data: "):
                    for choice in json.loads(line[6:])["choices"]:
                        text += choice["delta"].get("content") or ""
    except (TimeoutError, OSError, ValueError, KeyError):
        return False
    finally:
        writer.close()
    return text.strip() == "".join(f"{tag}-{n} " for n in range(deltas)).strip()


def _request(port: int, model: str, text: str, *, stream: bool) -> bytes:
    message = {"role": "user", "content": text}
    body = json.dumps({"model": model, "messages": [message], "stream": stream}).encode()
    return (
        f"POST {_PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer none\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def _answer(connected: socket.socket) -> bytes:
    """The body of one answer, which has a Content-Length or comes in chunks."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connected)
    head, _, body = received.partition(b"\r\n\r\n")
    lower = head.lower()
    if not lower.startswith(b"http/1.1 200"):
        raise RuntimeError(f"no success: {received[:500]!r}")
    if b"content-length:" in lower:
        length = int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += _some(connected)
        return body
    while not body.endswith(b"0\r\n\r\n"):
        body += _some(connected)
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        whole, body = whole + body[: int(size, 16)], body[int(size, 16) + 2 :]
    return whole


def _some(connected: socket.socket) -> bytes:
    if not (chunk := connected.recv(65_536)):
        raise RuntimeError("the gateway hung up")
    return chunk
