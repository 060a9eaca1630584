"""What is spent with keys, and what requests that run may still spend. Imports SQLAlchemy.

A request is admitted, and each of its turns holds what it may cost before the model is asked, in one
transaction, so that those which run side by side, in one process or several, cannot spend more than was left.
What a turn cost takes the place of what it held; its tokens count for a minute from its end. A request that
is not heard of for ``LEASE_SECONDS``, as its process died, counts with all that it held: the provider may
have been paid.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, union_all, update
from sqlalchemy.dialects import sqlite

from ...loop.limits.account import Held
from ..storage.state_database import StateDatabase
from .refusals import BudgetExceededError, RateLimitedError, RevokedKeyError
from .tables import admitted, keys, nano, spent, usd, used
from .virtual_key import KeyLimits, VirtualKey, iso

__all__ = ["LEASE_SECONDS", "Ledger", "Spent"]

LEASE_SECONDS = 900.0
_MINUTE = 60.0
_SOON = 1.0
_ID_BITS = 62
_ENDED = {"tokens": 0, "usd": 0, "until": 0}
"""What a request holds that has ended."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent with a key in US dollars today, in this month and in all, what requests that run may
    still spend, and its requests and tokens in all."""

    usd_today: float
    usd_this_month: float
    usd_in_all: float
    usd_held: float
    requests: int
    tokens: int

    def as_dict(self) -> dict[str, Any]:
        """Every figure by its name."""
        return {
            "usd_today": self.usd_today,
            "usd_this_month": self.usd_this_month,
            "usd_in_all": self.usd_in_all,
            "usd_held": self.usd_held,
            "requests": self.requests,
            "tokens": self.tokens,
        }


class Ledger:
    """The books of ``database``. Its calls wait for the disk."""

    def __init__(self, database: StateDatabase, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def admit(self, key: VirtualKey) -> int:
        """The number under which a further request with ``key`` is in the books. Raises
        ``RateLimitedError``."""
        now, number = self._clock(), secrets.randbits(_ID_BITS)

        def write(connection: Connection) -> None:
            _book_lost(connection, key.id, now)
            _check_requests(connection, key, now)
            connection.execute(insert(admitted).values(_row(key, number, now)))
            _add(connection, key.id, now, usd=0, tokens=0, requests=1)

        self._database.write(write)
        return number

    def hold(self, key: VirtualKey, number: int, held: Held) -> None:
        """Let a turn of the request ``number`` take what is ``held``.

        Raises ``RateLimitedError``, ``BudgetExceededError``, and ``RevokedKeyError`` where the key was
        revoked since the request began.
        """
        now = self._clock()
        row = admitted.c
        more = {
            "tokens": row.tokens + held.tokens,
            "usd": row.usd + nano(held.usd),
            "until": now + LEASE_SECONDS,
        }

        def write(connection: Connection) -> None:
            _check_revoked(connection, key)
            _book_lost(connection, key.id, now)
            _check_tokens(connection, key, held.tokens, now)
            _check_budget(connection, key, nano(held.usd), now)
            known = connection.execute(update(admitted).where(row.id == number).values(more))
            if not known.rowcount:  # it was taken for lost, in a long pause between two turns
                again = _row(key, number, now) | {"tokens": held.tokens, "usd": nano(held.usd)}
                connection.execute(insert(admitted).values(again))

        self._database.write(write)

    def settle(self, key: VirtualKey, number: int, held: Held, tokens: int, cost: float) -> None:
        """Write that a turn of the request ``number`` took ``tokens`` and ``cost`` US dollars, in place of
        what was ``held`` for it."""
        now, paid = self._clock(), nano(cost)
        row = admitted.c
        values = {
            "tokens": func.max(row.tokens - held.tokens, 0),
            "usd": func.max(row.usd - nano(held.usd), 0),
            "until": now + LEASE_SECONDS,
        }

        def write(connection: Connection) -> None:
            connection.execute(update(admitted).where(row.id == number, row.until > 0).values(values))
            if key.limits.tokens_per_minute is not None:
                connection.execute(insert(used).values(key=key.id, at=now, tokens=tokens))
            _add(connection, key.id, now, usd=paid, tokens=tokens, requests=0)

        self._database.write(write)

    def release(self, number: int) -> None:
        """Write that the request ``number`` has ended: what it held and did not spend is free."""
        which = update(admitted).where(admitted.c.id == number)
        self._database.write(lambda connection: connection.execute(which.values(_ENDED)))

    def spent(self, key: VirtualKey) -> Spent:
        """What was spent with ``key`` until now."""
        now = self._clock()
        day, month, whole = _periods(now)

        def read(connection: Connection) -> Spent:
            _book_lost(connection, key.id, now)
            rows = connection.execute(select(spent).where(spent.c.key == key.id)).mappings()
            found = {each["period"]: each for each in rows}
            money = [usd(found[each]["usd"]) if each in found else 0.0 for each in (day, month, whole)]
            requests, tokens = (
                (found[whole]["requests"], found[whole]["tokens"]) if whole in found else (0, 0)
            )
            return Spent(money[0], money[1], money[2], usd(_held(connection, key.id)), requests, tokens)

        return self._database.write(read)

    def left(self, key: VirtualKey) -> float | None:
        """The US dollars that are left of the nearest budget and that no other request holds; ``None`` where
        there is none."""
        if not key.limits.has_budget:
            return None
        figures = self.spent(key)
        return _unspent(key, figures, figures.usd_held)

    def unspent(self, key: VirtualKey) -> float | None:
        """The same, with what requests hold."""
        return _unspent(key, self.spent(key), 0.0) if key.limits.has_budget else None


def _unspent(key: VirtualKey, figures: Spent, held: float) -> float:
    used = (figures.usd_today, figures.usd_this_month, figures.usd_in_all)
    limits = (key.limits.usd_per_day, key.limits.usd_per_month, key.limits.usd_in_all)
    left = min(limit - each for limit, each in zip(limits, used, strict=True) if limit is not None)
    return max(0.0, left - held)


def _row(key: VirtualKey, number: int, now: float) -> dict[str, Any]:
    return {"id": number, "key": key.id, "at": now, "tokens": 0, "usd": 0, "until": now + LEASE_SECONDS}


def _book_lost(connection: Connection, key: str, now: float) -> None:
    """Count requests that were not heard of for too long, and forget those that count for nothing."""
    mine = admitted.c.key == key
    lost = mine & (admitted.c.until > 0) & (admitted.c.until <= now)
    for row in connection.execute(select(admitted).where(lost)).mappings().all():
        heard = row["until"] - LEASE_SECONDS
        _add(connection, key, heard, usd=row["usd"], tokens=row["tokens"], requests=0)
        connection.execute(update(admitted).where(admitted.c.id == row["id"]).values(_ENDED))
    over = mine & (admitted.c.until == 0) & (admitted.c.at <= now - _MINUTE)
    connection.execute(delete(admitted).where(over))
    connection.execute(delete(used).where(used.c.key == key, used.c.at <= now - _MINUTE))


def _check_revoked(connection: Connection, key: VirtualKey) -> None:
    revoked = connection.execute(select(keys.c.revoked).where(keys.c.id == key.id)).scalar()
    if revoked is not None:
        raise RevokedKeyError(f"the key {key.name!r} was revoked on {iso(revoked)}")


def _check_requests(connection: Connection, key: VirtualKey, now: float) -> None:
    most = key.limits.requests_per_minute
    if most is None:
        return
    recent = (admitted.c.key == key.id) & (admitted.c.at > now - _MINUTE)
    times = connection.execute(select(admitted.c.at).where(recent).order_by(admitted.c.at)).scalars().all()
    if len(times) >= most:
        raise RateLimitedError(
            f"the key {key.name!r} may make {most} requests a minute",
            retry_after=times[len(times) - most] + _MINUTE - now,
        )


def _recent_tokens(connection: Connection, key: VirtualKey, now: float) -> list[tuple[float, int]]:
    """The tokens of turns that ended in the last minute, and those that turns hold which run, each with the
    time of that; the oldest first. One that runs for longer counts again at its end."""
    heard = admitted.c.until - LEASE_SECONDS
    running = select(heard.label("at"), admitted.c.tokens).where(
        admitted.c.key == key.id, admitted.c.until > 0, heard > now - _MINUTE
    )
    ended = select(used.c.at, used.c.tokens).where(used.c.key == key.id, used.c.at > now - _MINUTE)
    found = connection.execute(union_all(running, ended).order_by("at"))
    return [(row.at, row.tokens) for row in found]


def _check_tokens(connection: Connection, key: VirtualKey, tokens: int, now: float) -> None:
    most_tokens = key.limits.tokens_per_minute
    if most_tokens is None:
        return
    if tokens > most_tokens:
        raise RateLimitedError(
            f"the request and its answer may take {tokens:,} tokens, and the key {key.name!r} may use "
            f"{most_tokens:,} a minute: make it shorter, or set a lower max_tokens"
        )
    rows = _recent_tokens(connection, key, now)
    taken = sum(each for _, each in rows)
    for at, each in rows:
        if taken + tokens <= most_tokens:
            return
        taken, wait = taken - each, at + _MINUTE - now
        if taken + tokens <= most_tokens:
            raise RateLimitedError(
                f"the key {key.name!r} may use {most_tokens:,} tokens a minute", retry_after=wait
            )


def _check_budget(connection: Connection, key: VirtualKey, wanted: int, now: float) -> None:
    if wanted == 0 or not key.limits.has_budget:
        return
    held = _held(connection, key.id)
    for period, limit, words, ends in _budgets(key.limits, now):
        which = select(spent.c.usd).where(spent.c.key == key.id, spent.c.period == period)
        left = nano(limit) - (connection.execute(which).scalar() or 0)
        after = None if ends is None else ends - now
        if left <= 0:
            until = "" if ends is None else f" until {iso(ends)}"
            raise BudgetExceededError(
                f"the budget of the key {key.name!r}, ${limit:g} {words}, is spent{until}", retry_after=after
            )
        if wanted > left:
            raise BudgetExceededError(
                f"the request may cost ${usd(wanted):.6f}, and ${usd(left):.6f} are left of the budget of "
                f"the key {key.name!r}, ${limit:g} {words}: send less, or set a lower max_tokens",
                retry_after=after,
            )
        if wanted > left - held:
            raise RateLimitedError(
                f"requests that run with the key {key.name!r} may spend what is left of its budget, "
                f"${limit:g} {words}",
                retry_after=_SOON,
            )


def _budgets(limits: KeyLimits, now: float) -> Iterator[tuple[str, float, str, float | None]]:
    """``(period, US dollars, in words, when it ends)`` of each budget."""
    day, month, whole = _periods(now)
    moment = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tomorrow = (moment + timedelta(days=1)).timestamp()
    next_month = (moment.replace(day=1) + timedelta(days=32)).replace(day=1).timestamp()
    if limits.usd_per_day is not None:
        yield day, limits.usd_per_day, "a day", tomorrow
    if limits.usd_per_month is not None:
        yield month, limits.usd_per_month, "a month", next_month
    if limits.usd_in_all is not None:
        yield whole, limits.usd_in_all, "in all", None


def _held(connection: Connection, key: str) -> int:
    found = select(func.coalesce(func.sum(admitted.c.usd), 0)).where(
        admitted.c.key == key, admitted.c.until > 0
    )
    return int(connection.execute(found).scalar_one())


def _add(connection: Connection, key: str, at: float, *, usd: int, tokens: int, requests: int) -> None:
    for period in _periods(at):
        values = {"key": key, "period": period, "usd": usd, "tokens": tokens, "requests": requests}
        row = sqlite.insert(spent).values(values)
        sums = {name: spent.c[name] + row.excluded[name] for name in ("usd", "tokens", "requests")}
        connection.execute(row.on_conflict_do_update(index_elements=["key", "period"], set_=sums))


def _periods(at: float) -> tuple[str, str, str]:
    day = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return day, day[:7], "all"
