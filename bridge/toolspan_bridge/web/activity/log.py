"""The activity log in a file of the state folder. Imports SQLAlchemy."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Insert, RowMapping, delete, func, insert, select
from sqlalchemy.dialects import sqlite

from ..storage.state_database import StateDatabase
from .entry import About, Entry
from .latency import bucket_of
from .summary import Summary, summary_of
from .tables import MARK, METADATA, VERSION, entries, hourly

__all__ = ["ACTIVITY_FILE", "ActivityLog", "Filter"]

ACTIVITY_FILE = "activity.sqlite3"
_DAY, _HOUR = 86_400, 3_600
_NANO = 1_000_000_000
_PRUNE_EVERY = 1_000
_KEY = ("hour", "kind", "name", "status", "bucket")
_SUMS = ("count", "input_tokens", "output_tokens", "usd", "unpriced", "total_ms")
_ABOUT = ("principal", "source", "key", "group")
_INSERT = insert(entries).returning(entries.c.id, sort_by_parameter_order=True)


def _adding() -> Insert:
    adding = sqlite.insert(hourly)
    sums = {name: hourly.c[name] + adding.excluded[name] for name in _SUMS}
    return adding.on_conflict_do_update(index_elements=_KEY, set_=sums)


_ADD = _adding()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted: those with every given value (by column), since and until given seconds."""

    equal: Mapping[str, str]
    since: float | None = None
    until: float | None = None


class ActivityLog:
    """The log in ``folder``, of at most ``keep_entries`` entries and ``keep_days`` days. Its calls wait for
    the disk; several processes may share it. Raises ``StoreError``."""

    def __init__(
        self,
        folder: Path,
        *,
        keep_days: int = 30,
        keep_entries: int = 1_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = StateDatabase(
            folder / ACTIVITY_FILE, METADATA, mark=MARK, version=VERSION, about="the activity log"
        )
        self._keep_days = keep_days
        self._keep_entries = keep_entries
        self._clock = clock
        self._until_pruned = 0

    def append(self, new: Sequence[Entry]) -> list[Entry]:
        """Write ``new``, all or none; they come back with their ids."""

        if not new:
            return []

        def write(connection: Connection) -> list[Entry]:
            ids = connection.execute(_INSERT, [_row(each) for each in new]).scalars().all()
            _count(connection, new)
            self._until_pruned -= len(new)
            if self._until_pruned <= 0:
                self._prune(connection)
            return [replace(each, id=number) for each, number in zip(new, ids, strict=True)]

        return self._database.write(write)

    def listed(self, wanted: Filter, before: int | None, most: int) -> list[Entry]:
        """The last ``most`` entries that are wanted, the latest first; only those ``before`` an id."""
        found = select(entries).order_by(entries.c.id.desc()).limit(most)
        for name, value in wanted.equal.items():
            found = found.where(entries.c[name] == value)
        if wanted.since is not None:
            found = found.where(entries.c.at >= wanted.since)
        if wanted.until is not None:
            found = found.where(entries.c.at < wanted.until)
        if before is not None:
            found = found.where(entries.c.id < before)
        return self._read(found)

    def after(self, last: int, most: int) -> list[Entry]:
        """The first ``most`` entries after the id ``last``, the oldest first."""
        return self._read(select(entries).where(entries.c.id > last).order_by(entries.c.id).limit(most))

    @property
    def last(self) -> int:
        """The id of the last entry, 0 before the first."""
        found = select(func.coalesce(func.max(entries.c.id), 0))
        return self._database.read(lambda connection: int(connection.execute(found).scalar_one()))

    def summary(self, since: float, until: float, principal: str | None = None) -> Summary:
        """The figures of the hours from that of ``since`` to that of ``until``, of all or one principal."""
        first, last = int(since // _HOUR), int(until // _HOUR)
        if principal is not None:
            own = select(entries).where(
                entries.c.principal == principal,
                entries.c.at >= first * _HOUR,
                entries.c.at < (last + 1) * _HOUR,
            )
            return summary_of(_counted(self._read(own)), first * _HOUR, (last + 1) * _HOUR)
        found = select(hourly).where(hourly.c.hour >= first, hourly.c.hour <= last)
        rows = self._database.read(lambda connection: connection.execute(found).mappings().all())
        return summary_of(rows, first * _HOUR, (last + 1) * _HOUR)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _read(self, found: Any) -> list[Entry]:
        return self._database.read(
            lambda connection: [_entry(row) for row in connection.execute(found).mappings()]
        )

    def _prune(self, connection: Connection) -> None:
        oldest = self._clock() - self._keep_days * _DAY
        connection.execute(delete(entries).where(entries.c.at < oldest))
        connection.execute(delete(hourly).where(hourly.c.hour < int(oldest // _HOUR)))
        beyond = select(entries.c.id).order_by(entries.c.id.desc()).offset(self._keep_entries).limit(1)
        number = connection.execute(beyond).scalar()
        if number is not None:
            connection.execute(delete(entries).where(entries.c.id <= number))
        self._until_pruned = min(_PRUNE_EVERY, self._keep_entries)


def _row(entry: Entry) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in entries.c.keys() if hasattr(entry, name)}  # noqa: SIM118
    row |= {name: getattr(entry.about, name) for name in _ABOUT}
    del row["id"]
    usd = None if entry.usd is None else round(entry.usd * _NANO)
    return row | {"usd": usd, "tried": json.dumps([dict(each) for each in entry.tried])}


def _entry(row: RowMapping) -> Entry:
    values: dict[str, Any] = dict(row)
    about = About(**{name: values.pop(name) for name in _ABOUT})
    usd = None if values["usd"] is None else values["usd"] / _NANO
    values |= {"about": about, "usd": usd, "tried": tuple(json.loads(values["tried"]))}
    return Entry(**values)


def _count(connection: Connection, new: Sequence[Entry]) -> None:
    connection.execute(_ADD, _counted(new))


def _counted(new: Sequence[Entry]) -> list[dict[str, Any]]:
    """What ``new`` add to the table of hours."""
    sums: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0] * len(_SUMS))
    for each in new:
        place = (int(each.at // _HOUR), each.kind, each.name, each.status, bucket_of(each.total_ms))
        usd = 0 if each.usd is None else round(each.usd * _NANO)
        added = (1, each.input_tokens, each.output_tokens, usd, int(each.usd is None), each.total_ms)
        sums[place] = [one + other for one, other in zip(sums[place], added, strict=True)]
    return [dict(zip((*_KEY, *_SUMS), (*place, *figures), strict=True)) for place, figures in sums.items()]
