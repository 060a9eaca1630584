"""The store's tables, the same in SQLite and PostgreSQL. Imports SQLAlchemy.

``migrations`` makes the same tables of those of an earlier version; a change here needs a step there.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text, text

from .rows import COLUMNS

__all__ = [
    "CHECKED",
    "DONE",
    "METADATA",
    "VERSION_TABLE",
    "cells",
    "fingerprints",
    "runs",
    "trials",
    "version",
    "wordings",
]

VERSION_TABLE = "toolspan_store_version"
METADATA = MetaData()

_Number = BigInteger().with_variant(Integer(), "sqlite")

trials = Table(
    "trials",
    METADATA,
    Column("id", _Number, primary_key=True),
    Column("model_id", Text, nullable=False),
    Column("suite", Text, nullable=False),
    Column("scenario", Text, nullable=False),
    Column("timestamp", Text, nullable=False),
    Column("success", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("fingerprint", Text, nullable=False, server_default=""),
    Column("is_error", Integer, nullable=False, server_default="0"),
    Column("run", Text, nullable=False, server_default=""),
    Column("number", Integer, nullable=False, server_default="0"),
    Column("cell", BigInteger, nullable=False, server_default="0"),
    Index("trials_by_cell", "cell"),
)
CHECKED = (trials.c.id, trials.c.cell, trials.c.checksum, *(trials.c[name] for name in COLUMNS))
"""The columns that a trial is read by."""
DONE = text("number > 0 AND is_error = 0")
"""The trials of which there is one for each number of a run."""
Index(
    "trials_by_number",
    trials.c.run,
    trials.c.number,
    unique=True,
    sqlite_where=DONE,
    postgresql_where=DONE,
)
fingerprints = Table(
    "fingerprints",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("parts", Text, nullable=False),
)
wordings = Table(
    "wordings",
    METADATA,
    Column("model_id", Text, primary_key=True),
    Column("choice", Text, nullable=False),
)
runs = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("plan", Text, nullable=False),
    Column("started", Text, nullable=False),
    Column("finished", Text, nullable=False),
    Column("contents", Text, nullable=False),
)
cells = Table(
    "cells",
    METADATA,
    Column("id", _Number, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("model_id", Text, nullable=False),
    Column("suite", Text, nullable=False),
    Column("scenario", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("n", Integer, nullable=False),
    Column("successes", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("first", Text, nullable=False),
    Column("last", Text, nullable=False),
    Column("figures", Text, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)
version = Table(VERSION_TABLE, METADATA, Column("version_num", String(32), primary_key=True))
"""As Alembic writes it."""
