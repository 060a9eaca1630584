"""Conversations written for others."""

from __future__ import annotations

from pathlib import Path

from toolspan_server.config import Config

from ...conversation.exports import EXPORTS
from ...conversation.log import Log
from ...errors import StoreError, UsageError
from ...files.replacement import replace_file


def exported(log: Log, form: str, config: Config) -> str:
    """``log`` in the form of that name, with ``***`` for the values of the config's secrets."""
    return config.redact(EXPORTS[form](log))


def write_new(path: Path, text: str) -> None:
    """Put ``text`` into ``path``. Raises ``UsageError`` when that is there already, and ``StoreError``."""
    if path.exists():
        raise UsageError(f"{path} exists already: choose another name")
    try:
        replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as fault:
        raise StoreError(f"{path} cannot be written: {fault.strerror}") from None
