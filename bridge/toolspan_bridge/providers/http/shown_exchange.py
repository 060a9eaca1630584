"""One attempt at a provider, told to whoever watches the wire."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from types import TracebackType
from typing import Self

from toolspan_server.common.wire.tap import WireMessage, WireTap, on_wire, secrets_of_headers

_NUMBERS = count(1)
_TOLD = ("content-type", "retry-after", "request-id", "x-request-id")


class ShownExchange:
    """Tells ``tap`` of a request of number ``attempt`` to ``peer``, and of its answer: whole, when its
    ``received`` pieces have come. Left without an answer, it tells why there is none. As a context manager it
    tells of an exception of the block."""

    def __init__(self, tap: WireTap, peer: str, redact: Callable[[str], str]) -> None:
        self._tap = tap
        self._peer = f"{peer} #{next(_NUMBERS)}"
        self._redact = redact
        self._started = time.monotonic()
        self._status = ""
        self._kind = ""
        self._content = bytearray()
        self._is_over = False

    def sent(self, method: str, url: str, body: bytes, headers: Mapping[str, str], attempt: int) -> None:
        """The request. Of the ``headers`` none is told."""
        self._tap.secrets(secrets_of_headers(headers.items()))
        head = f"{method} {url} ({len(body):,} bytes, attempt {attempt})"
        self._tell(head, body, headers.get("content-type", ""), sent=True)

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of the answer."""
        self._tap.secrets(secrets_of_headers(headers.items()))
        told = [f"{name} {headers[name]}" for name in _TOLD if name in headers]
        self._status = ", ".join([str(status), *told])
        self._kind = headers.get("content-type", "")

    def received(self, piece: bytes) -> None:
        """The next piece of the answer; an empty one is its end."""
        self._content += piece
        if not piece:
            self._end("")

    def failed(self, reason: str) -> None:
        """There is no answer, or no more of it."""
        self._end(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.failed(f"{type(error).__name__}: {error}".rstrip(": "))

    def _end(self, reason: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        seconds = time.monotonic() - self._started
        size = f"{len(self._content):,} bytes" if self._status else ""
        head = ", ".join(part for part in (self._status, size, f"{seconds:.2f} s", reason) if part)
        self._tell(head, bytes(self._content), self._kind, sent=False)
        self._content.clear()

    def _tell(self, head: str, body: bytes, kind: str, *, sent: bool) -> None:
        self._tap.message(WireMessage(self._peer, sent, head, body, kind, self._redact))


def shown_exchange(peer: str, redact: Callable[[str], str]) -> ShownExchange | None:
    """What tells of one attempt at ``peer``; ``None`` where nobody watches."""
    tap = on_wire.get()
    return None if tap is None else ShownExchange(tap, peer, redact)


def told(exchange: ShownExchange | None) -> AbstractContextManager[object]:
    """A block whose exception ``exchange`` tells."""
    return exchange or nullcontext()
