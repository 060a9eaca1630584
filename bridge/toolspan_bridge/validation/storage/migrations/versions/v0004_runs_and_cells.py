"""Version 4: runs, errors of providers, and the counts of every scenario beside its trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolspan_bridge.validation.storage.recounting import recounted

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables and columns, and count the trials that are there."""
    done = sa.text("number > 0 AND is_error = 0")
    _make_runs()
    _make_cells()
    for name, kind, default in (
        ("is_error", sa.Integer(), "0"),
        ("run", sa.Text(), ""),
        ("number", sa.Integer(), "0"),
        ("cell", sa.BigInteger(), "0"),
    ):
        op.add_column("trials", sa.Column(name, kind, nullable=False, server_default=default))
    op.drop_index("trials_by_record", "trials")
    recounted(op.get_bind())
    op.create_index("trials_by_cell", "trials", ["cell"])
    op.create_index(
        "trials_by_number", "trials", ["run", "number"], unique=True, sqlite_where=done, postgresql_where=done
    )


def _make_runs() -> None:
    texts = (sa.Column(name, sa.Text, nullable=False) for name in ("plan", "started", "finished", "contents"))
    op.create_table("runs", sa.Column("id", sa.Text, primary_key=True), *texts)


def _make_cells() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "cells",
        sa.Column("id", number, primary_key=True),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("model_id", "suite", "scenario", "fingerprint")
        ),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("n", "successes", "errors")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("first", "last", "figures")),
        sa.Column("checksum", sa.BigInteger, nullable=False),
    )
