"""How much a server may send of its own accord; one that sends more is disconnected."""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio

MAX_REQUESTS = 64
"""Requests of a server that may be in progress at the same time, until their answers were written."""

MAX_REQUEST_BYTES = 8 * 1024 * 1024
"""Most that those requests may come to, in bytes of JSON."""

BURST_MESSAGES = 50_000
MESSAGES_PER_SECOND = 1_000.0
"""How many messages that no request of ours asked for may come at once, and how many a second for long."""

BURST_BYTES = 256 * 1024 * 1024
BYTES_PER_SECOND = 8.0 * 1024 * 1024
"""The same in bytes."""

BURST_STREAMS = 30
STREAMS_PER_SECOND = 0.2
"""How often it may have its streams of events asked for again, over HTTP."""

WRITE_SECONDS = 30.0
"""How long a server may take to read one message."""


class _Bucket:
    """Holds ``most`` and gets ``per_second`` back."""

    def __init__(self, most: float, per_second: float, clock: Callable[[], float]) -> None:
        self._most = self._left = most
        self._per_second = per_second
        self._clock = clock
        self._at = clock()

    def take(self, amount: float) -> bool:
        """Whether there was that much; a negative ``amount`` is given back."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._per_second - amount)
        self._at = now
        return self._left >= 0


class Allowance:
    """What one session's server may send unasked. ``excess`` describes what it exceeded, once it has."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.excess = ""
        self.exceeded = anyio.Event()
        self._messages = _Bucket(BURST_MESSAGES, MESSAGES_PER_SECOND, clock)
        self._bytes = _Bucket(BURST_BYTES, BYTES_PER_SECOND, clock)
        self._streams = _Bucket(BURST_STREAMS, STREAMS_PER_SECOND, clock)
        self._sizes: dict[object, list[int]] = {}
        self._requests = 0
        self._request_bytes = 0

    def unasked(self, messages: int = 1, size: int = 0) -> None:
        """Count what came without being asked for."""
        if not self._messages.take(messages):
            self.exceed(
                f"it sent more than {BURST_MESSAGES} unsolicited messages, and more than "
                f"{MESSAGES_PER_SECOND:g} a second"
            )
        if not self._bytes.take(size):
            self.exceed(
                f"it sent more than {BURST_BYTES >> 20} MiB unsolicited, and more than "
                f"{BYTES_PER_SECOND / 2**20:g} MiB a second"
            )

    def resumed(self) -> None:
        """Count a stream of events that is asked for, or asked for again, over HTTP."""
        if not self._streams.take(1):
            self.exceed(f"it ended its streams of events more than {BURST_STREAMS} times in a short while")

    def begin(self, key: object, size: int) -> None:
        """Count the request ``key`` of the server as in progress."""
        self._sizes.setdefault(key, []).append(size)
        self._requests += 1
        self._request_bytes += size
        if self._requests > MAX_REQUESTS:
            self.exceed(f"more than {MAX_REQUESTS} of its requests were in progress, their answers not read")
        elif self._request_bytes > MAX_REQUEST_BYTES:
            self.exceed(f"its requests in progress came to more than {MAX_REQUEST_BYTES >> 20} MiB")

    def end(self, key: object) -> None:
        """The request ``key`` was answered, or will not be."""
        if sizes := self._sizes.get(key):
            self._requests -= 1
            self._request_bytes -= sizes.pop()
            if not sizes:
                del self._sizes[key]

    def exceed(self, excess: str) -> None:
        """The server is to be disconnected because of ``excess``; the first is kept."""
        if not self.excess:
            self.excess = excess
            self.exceeded.set()
