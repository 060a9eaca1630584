"""Run by Alembic, under the name that it gives: migrates over the connection of ``upgrade``, in its
transaction."""

from __future__ import annotations

from alembic import context

from toolspan_bridge.validation.storage.tables import METADATA, VERSION_TABLE

if __name__ == "env_py":
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
    )
    context.run_migrations()
