"""``storage``: what tools keep from call to call."""

from __future__ import annotations

from ...engines.databases._urls import checked_url, host_of
from ...schema.records import Record, key

_MIB = 1024**2


class StorageConfig(Record):
    """Where tools keep what they store for a user and a conversation, and how much of it."""

    url: str | None = key(
        "The database: sqlite:///FILE (relative to the config's folder), "
        "postgresql://USER:${PASSWORD}@HOST/NAME, or any SQLAlchemy URL whose driver is installed; "
        "files in state_dir/storage when absent.",
        least=1,
        most=2_000,
        check=checked_url,
        hidden=True,
        default=None,
    )
    document_bytes: int = key(
        "Most that one tool stores for one conversation, in bytes of JSON.",
        least=1,
        most=64 * _MIB,
        default=_MIB,
    )
    user_bytes: int = key(
        "Most that all tools store for one user, in bytes; each conversation of a tool counts in steps of"
        " 4 KiB.",
        least=1,
        most=1 << 50,
        default=256 * _MIB,
    )

    @property
    def host(self) -> str | None:
        """The host of the database; ``None`` where nothing leaves this machine."""
        return None if self.url is None else host_of(self.url)
