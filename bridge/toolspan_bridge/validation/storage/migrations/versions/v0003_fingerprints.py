"""Version 3: trials have a fingerprint."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table of fingerprints, and their column in trials."""
    op.create_table(
        "fingerprints",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("parts", sa.Text, nullable=False),
    )
    op.add_column("trials", sa.Column("fingerprint", sa.Text, nullable=False, server_default=""))
    op.create_index(
        "trials_by_record", "trials", ["model_id", "suite", "fingerprint", "success", "timestamp"]
    )
