"""Version 2: the choice of a wording for a model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of choices."""
    op.create_table(
        "wordings",
        sa.Column("model_id", sa.Text, primary_key=True),
        sa.Column("choice", sa.Text, nullable=False),
    )
