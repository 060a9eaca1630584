"""The memory that the clients of all endpoints of a process share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ...http_server.unread_bytes import UnreadBytes
from .retention import KeptEvents, KeptResults

if TYPE_CHECKING:
    from ...config import LimitsConfig


@dataclass(frozen=True)
class MemoryBudgets:
    """What is not read yet, and what is kept for those who come back: each within its limit."""

    unread: UnreadBytes
    events: KeptEvents
    results: KeptResults

    @classmethod
    def of(cls, limits: LimitsConfig) -> Self:
        """Those that ``limits`` allow."""
        return cls(
            UnreadBytes(limits.unread_bytes), KeptEvents(limits.event_bytes), KeptResults(limits.task_bytes)
        )
