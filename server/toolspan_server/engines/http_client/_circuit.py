"""The circuit breaker: who has failed repeatedly is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

from ...schema.records import Record, key
from ...schema.values import Milliseconds
from ._errors import circuit_open


class HttpCircuit(Record):
    """When a host is left alone: after ``failures`` calls in a row that failed, for ``open_ms``.

    Failures are connections that fail, time-outs, and answers of status 5xx. After ``open_ms`` one call is
    let through to see; the others are refused until it has an answer.
    """

    failures: int = key("How many consecutive failures open the circuit.", least=1, most=1_000, default=5)
    open_ms: Milliseconds = key(
        "How long calls are refused then, in milliseconds, before one is tried again.", default=30_000
    )
    per: Literal["host", "tool"] = key(
        "Whether all tools of one host share a circuit, or each tool has its own.", default="host"
    )


class Circuit:
    """Counts the failures of one host or tool."""

    def __init__(self, config: HttpCircuit, now: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._now = now
        self._failures = 0
        self._opened: float | None = None
        self._trying = False

    @contextmanager
    def passing(self, host: str) -> Generator[None]:
        """A call passes; what comes of it is to be noted. Raises ``ToolFailure`` when the circuit is open."""
        trial = False
        if self._opened is not None:
            left = self._opened + self._config.open_ms / 1000 - self._now()
            if left > 0 or self._trying:
                raise circuit_open(host, max(left, 1))
            trial = self._trying = True
        try:
            yield
        finally:
            if trial:
                self._trying = False

    def note(self, *, failed: bool) -> None:
        """Whether the other side failed, or did what it was asked."""
        if not failed:
            self._failures, self._opened = 0, None
            return
        self._failures += 1
        if self._opened is not None or self._failures >= self._config.failures:
            self._opened = self._now()
