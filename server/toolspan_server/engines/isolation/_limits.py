"""What worker processes may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """At most ``processes`` at the same time; of each its memory, and the processor time of one call.

    ``withheld`` are environment variables that they do not get. ``result_bytes`` is the limit of a result.
    """

    processes: int = 16
    memory_bytes: int = 1 << 30
    cpu_seconds: int = 300
    result_bytes: int = 1_048_576
    withheld: frozenset[str] = frozenset()
