"""Where a browser comes back to: one answer, on this machine's loopback address (RFC 8252, section 7.3)."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import SplitResult, parse_qsl, urlsplit

import anyio
from anyio.abc import SocketStream, TaskGroup

from ..errors import AuthError, UsageError

PATH = "/callback"
_MAX_HEAD = 16_384
_HEAD_SECONDS = 10.0
_MAX_FIELDS = 50
_BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
_DONE = "You are signed in. You can close this window."
_FAILED = "You are not signed in: see the terminal for the reason. You can close this window."
_ELSEWHERE = "There is nothing here."
_OTHER = "This is not the answer to the sign-in that is waited for, which goes on."


class Loopback:
    """Waits for the browser at ``redirect_uri``. Only the answer that has its ``state`` ends the wait: any
    program and any page may ask this address."""

    def __init__(self, redirect_uri: str, state: str) -> None:
        self.redirect_uri = redirect_uri
        self.state = state
        self._came = anyio.Event()
        self._answer: dict[str, str] = {}
        self._refused = 0

    async def answer(self, seconds: float) -> dict[str, str]:
        """The parameters that the browser brought. Raises ``AuthError`` after ``seconds``."""
        try:
            with anyio.fail_after(seconds):
                await self._came.wait()
        except TimeoutError:
            refused = f"; {self._refused} requests with a wrong state were refused" if self._refused else ""
            late = f"nobody signed in within {seconds:g} s (--timeout allows more)"
            raise AuthError(f"{late}{refused}") from None
        return self._answer

    def _fitting(self, query: str) -> dict[str, str] | None:
        """The parameters of an answer to what was asked, each of which it has once."""
        try:
            given = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return None
        answer = dict(given)
        state = answer.get("state", "")
        is_ours = state.isascii() and secrets.compare_digest(state, self.state)
        return answer if is_ours and len(answer) == len(given) else None

    async def serve(self, stream: SocketStream) -> None:
        """Answer one connection of a browser."""
        async with stream:
            with anyio.move_on_after(_HEAD_SECONDS), suppress(*_BROKEN):
                parts = await _target(stream)
                if parts is None:
                    await _reply(stream, 400, _ELSEWHERE)
                    return
                if parts.path != PATH or self._came.is_set():
                    await _reply(stream, 404, _ELSEWHERE)
                    return
                answer = self._fitting(parts.query)
                if answer is None:
                    self._refused += 1
                    await _reply(stream, 400, _OTHER)
                    return
                self._answer, is_good = answer, "code" in answer
                try:
                    await _reply(stream, 200 if is_good else 400, _DONE if is_good else _FAILED)
                finally:
                    self._came.set()


@asynccontextmanager
async def listening(port: int | None, wanted: str = "") -> AsyncGenerator[Loopback]:
    """A place that a browser can come back to: ``port`` of the config, else that of the URI ``wanted``, else
    any free one. Raises ``UsageError`` when ``port`` is taken."""
    listener, uri = await _listener(port, wanted)
    loopback = Loopback(uri, secrets.token_urlsafe(32))
    fault: Exception | None = None
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(_accept, listener, loopback, tasks)
        try:
            yield loopback
        except Exception as error:
            fault = error  # carried past the task group, which would wrap it in an ExceptionGroup
        tasks.cancel_scope.cancel()
    if fault is not None:
        raise fault


async def _listener(port: int | None, wanted: str) -> tuple[anyio.abc.Listener[SocketStream], str]:
    host = "127.0.0.1"
    if port is not None:
        try:
            return await anyio.create_tcp_listener(local_host=host, local_port=port), (
                f"http://localhost:{port}{PATH}"
            )
        except OSError as error:
            hint = "end what uses it, or take callback_port out of the server's oauth"
            raise UsageError(
                f"the callback_port {port} cannot be used: {error.strerror or error} ({hint})"
            ) from None
    known = urlsplit(wanted).port if wanted else None
    for each in (known, 0):
        if each is None:
            continue
        with suppress(OSError):
            listener = await anyio.create_tcp_listener(local_host=host, local_port=each)
            free = listener.extra(anyio.abc.SocketAttribute.local_port)
            return listener, f"http://{host}:{free}{PATH}"
    raise UsageError(f"no port of {host} is free for the browser to come back to")


async def _accept(listener: anyio.abc.Listener[SocketStream], loopback: Loopback, tasks: TaskGroup) -> None:
    await listener.serve(loopback.serve, tasks)


async def _target(stream: SocketStream) -> SplitResult | None:
    """The target of a GET; ``None`` for anything else."""
    head = b""
    while b"\r\n\r\n" not in head:
        if len(head) > _MAX_HEAD:
            return None
        head += await stream.receive(4_096)
    method, _, rest = head.partition(b"\r\n")[0].decode("ascii", "replace").partition(" ")
    try:
        return urlsplit(rest.rpartition(" ")[0]) if method == "GET" else None
    except ValueError:
        return None


async def _reply(stream: SocketStream, status: int, text: str) -> None:
    body = f"<!doctype html><meta charset=utf-8><title>Toolspan</title><p>{text}</p>".encode()
    reason = {200: "OK", 400: "Bad Request", 404: "Not Found"}[status]
    head = (
        f"HTTP/1.1 {status} {reason}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'\r\n"
        "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\r\n"
    )
    await stream.send(head.encode() + body)
