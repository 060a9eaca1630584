"""The limits of a provider's HTTP client: times, sizes, attempts."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio

from .rate_limits import RateLimiters
from .retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Seconds to connect, to wait for the first byte (``read``), between two chunks of a stream (``idle``),
    and for all attempts together; the most bytes of an answer, counted after decompression; the most
    ``connections`` at once, and how many of them stay open unused (``idle_connections``). ``limiters`` hold
    requests back that would be too many; without them a refused one is attempted again as any other.
    """

    connect: float = 10.0
    read: float = 600.0
    idle: float = 120.0
    total: float = 900.0
    max_bytes: int = 32 * 1024 * 1024
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    dice: Callable[[], float] = random.random
    connections: int = 16
    idle_connections: int = 4
    limiters: RateLimiters | None = None
