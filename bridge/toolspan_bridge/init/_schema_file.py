"""The schema of configs beside a config, where an editor finds it without a network."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.common.private_files import STATE_FOLDER, private_folder

from ..errors import UsageError
from ..files.replacement import replace_file

_NAME = "toolspan.schema.json"
SCHEMA = f"{STATE_FOLDER}/{_NAME}"
"""Its place, from the config's folder."""


def put_schema(directory: Path) -> None:
    """Write the schema of this version for a config in ``directory``. Raises ``UsageError``."""
    from toolspan_server.config.published_schema import config_schema_text

    try:
        replace_file(private_folder(directory / STATE_FOLDER) / _NAME, config_schema_text().encode())
    except OSError as fault:
        raise UsageError(f"{directory / SCHEMA} cannot be written: {fault.strerror}") from None
