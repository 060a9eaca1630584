"""One file of JSON, as ``chat --save`` writes it and ``--resume`` reads it."""

from __future__ import annotations

from ..log import Log


def one_file(log: Log) -> str:
    """The whole conversation as JSON. Raises ``StoreError`` when it is too large for one file."""
    return log.conversation.to_json().decode() + "\n"
