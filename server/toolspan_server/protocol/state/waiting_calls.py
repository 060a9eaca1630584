"""The calls that wait for a person: they take no place among those that run; they have their own limit."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from ...errors import ToolFailure

_LIMIT = "limits.asking_calls"


class WaitingCalls:
    """At most ``most`` calls wait for the answer to a question; at most half of those are of one principal.

    Where nobody is asked for a token, all may be of one client.
    """

    def __init__(self, most: int = sys.maxsize) -> None:
        self._most = most
        self._waiting: Counter[str | None] = Counter()

    @contextmanager
    def one(self, principal: str | None) -> Generator[None]:
        """Count a call of ``principal`` meanwhile. Raises ``ToolFailure`` when too many wait."""
        share = self._most if principal is None else max(1, self._most // 2)
        if self._waiting.total() >= self._most:
            raise _too_many(f"{self._most:,} calls wait for answers to their questions ({_LIMIT})")
        if self._waiting[principal] >= share:
            raise _too_many(
                f"{share:,} calls of this principal wait for answers to their questions, half of {_LIMIT}"
            )
        self._waiting[principal] += 1
        try:
            yield
        finally:
            self._waiting[principal] -= 1
            if not self._waiting[principal]:
                del self._waiting[principal]


def _too_many(what: str) -> ToolFailure:
    return ToolFailure(
        f"The client cannot be asked: {what}, which is the most",
        error_code="busy",
        user_action="Answer the open questions, then call the tool again.",
    )
