"""The tables of the activity log. Imports SQLAlchemy.

Money is in whole billionths of a US dollar. Beside the entries, they are counted by hour, name, status and
latency as they are written, so that a summary reads few rows however many entries there are.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, MetaData, Table

from ..storage.stored_types import StoredFloat, StoredInteger, StoredText

__all__ = ["MARK", "METADATA", "VERSION", "entries", "hourly"]

MARK = 0x746F6163  # "toac"
VERSION = 1
METADATA = MetaData()

_TEXTS = ("kind", "principal", "source", "key", "group", "model", "provider", "server", "tool")
entries = Table(
    "entries",
    METADATA,
    Column("id", StoredInteger, primary_key=True),
    Column("at", StoredFloat, nullable=False),
    *(Column(name, StoredText, nullable=False) for name in _TEXTS),
    *(
        Column(name, StoredText, nullable=False)
        for name in ("status", "error_code", "error", "tried", "text")
    ),
    Column("first_ms", StoredFloat),
    Column("total_ms", StoredFloat, nullable=False),
    *(Column(name, StoredInteger, nullable=False) for name in ("input_tokens", "output_tokens", "tools")),
    Column("usd", StoredInteger),
    Index("entries_by_time", "at"),
    sqlite_autoincrement=True,
)
"""``sqlite_autoincrement``: no id is given twice, as followers come back with the last that they saw."""
hourly = Table(
    "hourly",
    METADATA,
    Column("hour", StoredInteger, primary_key=True),
    Column("kind", StoredText, primary_key=True),
    Column("name", StoredText, primary_key=True),
    Column("status", StoredText, primary_key=True),
    Column("bucket", StoredInteger, primary_key=True),
    *(
        Column(name, StoredInteger, nullable=False)
        for name in ("count", "input_tokens", "output_tokens", "usd", "unpriced")
    ),
    Column("total_ms", StoredFloat, nullable=False),
)
"""How many entries took how long: ``hour`` since 1970, ``bucket`` of ``latency``."""
