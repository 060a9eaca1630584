"""The schemas of configs and suites beside such a file, where an editor finds them without a network."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.common.state.folder import STATE_FOLDER, private_folder
from toolspan_server.common.state.private_files import write_private

from ...errors import UsageError

_NAME = "toolspan.schema.json"
SCHEMA = f"{STATE_FOLDER}/{_NAME}"
"""Its place, from the config's folder."""


def put_schema(directory: Path) -> None:
    """Write the schema of this version for a config in ``directory``. Raises ``UsageError``."""
    from toolspan_server.config.published_schema import config_schema_text

    put_schema_file(directory, _NAME, config_schema_text())


def put_schema_file(directory: Path, name: str, text: str) -> str:
    """Write a schema as ``name`` for files in ``directory``; its place from there. Raises ``UsageError``."""
    try:
        write_private(private_folder(directory.resolve() / STATE_FOLDER) / name, text.encode())
    except OSError as fault:
        raise UsageError(f"{directory / STATE_FOLDER / name} cannot be written: {fault.strerror}") from None
    return f"{STATE_FOLDER}/{name}"
