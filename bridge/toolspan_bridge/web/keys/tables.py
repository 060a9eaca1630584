"""The tables of virtual keys and of what was spent with them. Imports SQLAlchemy.

Money is in whole billionths of a US dollar, so that sums are exact.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, Table, Text

__all__ = ["MARK", "METADATA", "VERSION", "admitted", "keys", "nano", "spent", "usd"]

MARK = 0x746F6B79  # "toky"
VERSION = 1
METADATA = MetaData()
_NANO = 1_000_000_000

keys = Table(
    "keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("digest", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
    Column("limits", Text, nullable=False),
)
spent = Table(
    "spent",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("usd", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("requests", Integer, nullable=False),
)
"""What was spent in each ``period``: ``all``, a month as ``2026-07``, a day as ``2026-07-12``."""
admitted = Table(
    "admitted",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("usd", Integer, nullable=False),
    Column("until", Float, nullable=False),
    Index("admitted_by_key", "key", "at"),
)
"""The requests that run, and those of the last minute: what each holds of its key's budget, ``until`` when
unless it is heard of again (0: it has ended)."""


def nano(usd: float) -> int:
    """US dollars as billionths."""
    return round(usd * _NANO)


def usd(nano_usd: int) -> float:
    """Billionths as US dollars."""
    return nano_usd / _NANO
