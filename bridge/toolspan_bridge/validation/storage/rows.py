"""A trial as a row of the store, and the checksums by which a changed byte is found."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..fingerprint import Fingerprint
from .trial import Trial

__all__ = ["COLUMNS", "Damaged", "Row", "checked_row", "checksum", "crc", "trial_of"]


class Row(NamedTuple):
    """A trial's values, each in a column of its name; ``fingerprint`` is the digest."""

    model_id: str
    suite: str
    scenario: str
    timestamp: str
    success: int
    error: str
    details: str
    fingerprint: str = ""
    is_error: int = 0
    run: str = ""
    number: int = 0


COLUMNS = Row._fields
"""Up to version 2 of the store there was no ``fingerprint``, up to version 3 nothing after it."""

_OF_VERSION_3 = 8
_NOTHING_MORE = ((0, "", 0), (0, b"", 0))


class Damaged(Exception):
    """What is in the store is not what was written."""


def checksum(row: Sequence[object]) -> int:
    """A checksum of a row (values in the order of ``COLUMNS``), different where the disk changed a byte.

    What a trial of an earlier version has not has no part in it, so that those trials keep theirs.
    """
    earlier, fingerprint = row[: _OF_VERSION_3 - 1], row[_OF_VERSION_3 - 1]
    if tuple(row[_OF_VERSION_3:]) not in _NOTHING_MORE:
        return crc(row)
    return crc([*earlier, fingerprint] if fingerprint else earlier)


def crc(values: Sequence[object]) -> int:
    """The CRC-32 of ``values``, which are texts, numbers and bytes."""
    return zlib.crc32(
        b"\x00".join([value if isinstance(value, bytes) else str(value).encode() for value in values])
    )


def checked_row(values: Iterable[Any]) -> tuple[int, int, Row]:
    """The id of a trial, that of its cell, and its row, of the columns ``CHECKED`` of the tables. Raises
    ``Damaged`` where the checksum is another."""
    number, cell, written, *columns = values
    row = Row(*columns)
    if checksum(row) != written:
        raise Damaged(f"trial {number} is not as it was written")
    return number, cell, row


def trial_of(row: Row, marks: Mapping[str, Fingerprint]) -> Trial:
    """The trial; ``marks`` are the fingerprints by their digests. Raises ``Damaged`` where its is missing."""
    if row.fingerprint and row.fingerprint not in marks:
        raise Damaged("the fingerprint of a trial is missing")
    return Trial(
        row.model_id,
        row.suite,
        row.scenario,
        row.timestamp,
        bool(row.success),
        row.error,
        json.loads(row.details),
        marks[row.fingerprint] if row.fingerprint else None,
        is_error=bool(row.is_error),
        run=row.run,
        number=row.number,
    )
