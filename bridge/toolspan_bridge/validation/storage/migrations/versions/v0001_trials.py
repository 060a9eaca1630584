"""Version 1: trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table of trials."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "trials",
        sa.Column("id", number, primary_key=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("model_id", "suite", "scenario", "timestamp")
        ),
        sa.Column("success", sa.Integer, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("checksum", sa.BigInteger, nullable=False),
    )
