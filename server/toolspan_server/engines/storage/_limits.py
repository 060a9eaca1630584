"""The limits of what tools keep."""

from __future__ import annotations

from typing import NamedTuple

BLOCK = 4_096
"""What a document is counted in, as disks do: bytes."""


class StorageLimits(NamedTuple):
    """At most ``document_bytes`` for one tool in one conversation, as JSON, and ``user_bytes`` for all of one
    user's documents, each counted in whole blocks of 4 KiB."""

    document_bytes: int = 1_048_576
    user_bytes: int = 268_435_456


def blocks(size: int) -> int:
    """The bytes that a document of ``size`` bytes counts for."""
    return -(-size // BLOCK) * BLOCK
