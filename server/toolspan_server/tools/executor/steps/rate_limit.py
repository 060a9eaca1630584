"""Limits how often the tool runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ....calls.client import InputRequired
from ....calls.context import Context
from ....errors import ToolFailure
from ....schema.records import is_same
from ..step import Step, StepInputs

if TYPE_CHECKING:
    from ....config.models.tool_options import RateLimitConfig

ORDER = 50

Clock = Callable[[], float]


Buckets = MutableMapping[str, "tuple[RateLimitConfig, Bucket]"]
"""The buckets of the tools by name; they survive a change of the config."""


def build(following: Step, inputs: StepInputs) -> Step:
    """For tools with the key ``rate_limit``."""
    limit = inputs.tool.config.rate_limit
    assert limit is not None
    buckets: Buckets = inputs.kept.setdefault("rate_limit", {})
    return rate_limited(following, limit, bucket_of(buckets, inputs.tool.name, limit))


def bucket_of(buckets: Buckets, tool: str, limit: RateLimitConfig) -> Bucket:
    """The bucket of ``tool``: the existing one, at its present level, if it was made for the same limit."""
    known = buckets.get(tool)
    if known is None or not is_same(known[0], limit):
        known = buckets[tool] = (limit, Bucket(limit))
    return known[1]


def rate_limited(following: Step, limit: RateLimitConfig, bucket: Bucket) -> Step:
    """Refuse calls of ``following`` beyond ``limit``, with a ``ToolFailure`` that says when to try again.

    A call that is suspended to ask its client, and will be repeated with the answers, does not count.
    """

    async def step(arguments: dict[str, Any], context: Context) -> Any:
        wait = bucket.take()
        if wait > 0:
            raise ToolFailure(
                f"The tool may be called {limit.calls} times in {limit.per_ms / 1000:g} seconds, and was",
                error_code="rate_limited",
                user_action=f"Try again in {math.ceil(wait)} seconds.",
            )
        try:
            return await following(arguments, context)
        except InputRequired:
            bucket.give_back()
            raise

    return step


class Bucket:
    """A token bucket, refilled at the rate of ``limit`` up to its burst; each call takes one token."""

    def __init__(self, limit: RateLimitConfig, now: Clock = time.monotonic) -> None:
        size = limit.burst or limit.calls
        self._per_second = limit.calls / (limit.per_ms / 1000)
        self._size = size
        self._now = now
        self._tokens = float(size)
        self._filled = now()

    def take(self) -> float:
        """Take a token and return 0. When there is none: the seconds until the next one."""
        now = self._now()
        self._tokens = min(self._size, self._tokens + (now - self._filled) * self._per_second)
        self._filled = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0
        return (1 - self._tokens) / self._per_second

    def give_back(self) -> None:
        """Return a token whose call did not count."""
        self._tokens = min(self._size, self._tokens + 1)
