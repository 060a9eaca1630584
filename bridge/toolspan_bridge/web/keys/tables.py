"""The tables of virtual keys and of what was spent with them. Imports SQLAlchemy.

Money is in whole billionths of a US dollar, so that sums are exact.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, MetaData, Table

from ..storage.stored_types import StoredFloat, StoredInteger, StoredText

__all__ = ["MARK", "METADATA", "VERSION", "admitted", "keys", "nano", "spent", "usd", "used"]

MARK = 0x746F6B79  # "toky"
VERSION = 1
METADATA = MetaData()
_NANO = 1_000_000_000

keys = Table(
    "keys",
    METADATA,
    Column("id", StoredText, primary_key=True),
    Column("name", StoredText, nullable=False, unique=True),
    Column("digest", LargeBinary, nullable=False),
    Column("created", StoredFloat, nullable=False),
    Column("expires", StoredFloat),
    Column("revoked", StoredFloat),
    Column("limits", StoredText, nullable=False),
)
spent = Table(
    "spent",
    METADATA,
    Column("key", StoredText, primary_key=True),
    Column("period", StoredText, primary_key=True),
    Column("usd", StoredInteger, nullable=False),
    Column("tokens", StoredInteger, nullable=False),
    Column("requests", StoredInteger, nullable=False),
)
"""What was spent in each ``period``: ``all``, a month as ``2026-07``, a day as ``2026-07-12``."""
admitted = Table(
    "admitted",
    METADATA,
    Column("id", StoredInteger, primary_key=True),
    Column("key", StoredText, nullable=False),
    Column("at", StoredFloat, nullable=False),
    Column("tokens", StoredInteger, nullable=False),
    Column("usd", StoredInteger, nullable=False),
    Column("until", StoredFloat, nullable=False),
    Index("admitted_by_key", "key", "at"),
)
"""The requests that run, and those of the last minute: what each holds of its key's budget and tokens,
``until`` when unless it is heard of again (0: it has ended)."""
used = Table(
    "used",
    METADATA,
    Column("key", StoredText, nullable=False),
    Column("at", StoredFloat, nullable=False),
    Column("tokens", StoredInteger, nullable=False),
    Index("used_by_key", "key", "at"),
)
"""The tokens of each turn that ended in the last minute, of keys with a limit of them."""


def nano(usd: float) -> int:
    """US dollars as billionths."""
    return round(usd * _NANO)


def usd(nano_usd: int) -> float:
    """Billionths as US dollars."""
    return nano_usd / _NANO
