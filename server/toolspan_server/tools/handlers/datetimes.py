"""Date and time: now, parse, add, difference, format; in any IANA time zone.

Moments are given as ``{"datetime": ISO 8601, "timezone", "date", "time", "weekday", "unix"}``, with a
``note`` where the clocks were being changed. A local time that is skipped then is moved forward by
as much as the clocks are; of one that comes twice, the first is taken.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from ...calls.context import Context
from ...engines.registration import handler
from ...errors import InvalidParameters
from ...schema.keys import PURE
from ._arguments import (
    choice_of,
    integer_of,
    number_of,
    optional_text,
    text_of,
)
from ._moments import moment_of
from ._zones import in_zone, on_the_clock, zone

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_DIRECTIVES = "aAbBdHIjmMpSfyYzZuUwWGV%"
_MAX_FORMAT = 200
_MAX_YEARS = 9_999


@handler("datetime_now", inert=PURE)
async def datetime_now(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"timezone": "Europe/Paris"}`` (default UTC) → the moment."""
    name = text_of(arguments, "timezone", "UTC")
    return _moment_fields(in_zone(datetime.now(UTC), zone(name)))


@handler("datetime_parse", inert=PURE)
async def datetime_parse(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"text": "29 March 2026 2:30 pm", "timezone"?}`` → the moment.

    ISO 8601, RFC 2822, Unix seconds, and forms with the year in full. A text without an offset is
    read as a time in ``timezone`` (default UTC); one with an offset is converted to ``timezone``.
    """
    return _moment_fields(*_moment(arguments, "text"))


@handler("datetime_add", inert=PURE)
async def datetime_add(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"datetime", "months": 1, "hours": -2, …, "timezone"?}`` → the moment; years to seconds.

    Years to days are steps in the calendar that keep the time on the clock (31 January and one
    month is the last day of February); hours to seconds then count as they pass. Each may be
    negative; years to days are whole.
    """
    moment, note = _moment(arguments, "datetime")
    years, months, weeks, days = (
        integer_of(arguments, unit, 0) for unit in ("years", "months", "weeks", "days")
    )
    if years or months or weeks or days:
        moment, note = _in_calendar(moment, years * 12 + months, weeks * 7 + days)
    try:
        passing = timedelta(
            **{unit: number_of(arguments, unit, 0) for unit in ("hours", "minutes", "seconds")}
        )
        if passing:
            moment = in_zone(in_zone(moment, UTC) + passing, moment.tzinfo or UTC)
    except OverflowError:
        raise _outside() from None
    return _moment_fields(moment, note)


@handler("datetime_difference", inert=PURE)
async def datetime_difference(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"start", "end", "unit"?, "timezone"?}`` → ``{"value": 1.5, "unit": "hours", "text": …}``.

    ``unit`` is weeks, days, hours, minutes or seconds (the default); a day is 24 hours. Negative
    when ``end`` is before ``start``.
    """
    start, _ = _moment(arguments, "start")
    end, _ = _moment(arguments, "end")
    unit = choice_of(arguments, "unit", tuple(_SECONDS), "seconds")
    passed = in_zone(end, UTC) - in_zone(start, UTC)
    value = passed / timedelta(seconds=_SECONDS[unit])
    return {"value": int(value) if value.is_integer() else value, "unit": unit, "text": _in_words(passed)}


@handler("datetime_format", inert=PURE)
async def datetime_format(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"datetime", "format": "%d %B %Y", "timezone"?}`` → ``{"text": "29 March 2026"}``.

    ``format`` is as for Python's ``strftime``, with the directives a A b B d H I j m M p S f y Y z Z
    u U w W G V and %%; at most 200 characters.
    """
    moment, _ = _moment(arguments, "datetime")
    pattern = text_of(arguments, "format")
    if len(pattern) > _MAX_FORMAT:
        raise InvalidParameters([f"'format' must have at most {_MAX_FORMAT} characters"])

    def directive(found: re.Match[str]) -> str:
        if not found[1] or found[1] not in _DIRECTIVES:
            known = " ".join(f"%{letter}" for letter in _DIRECTIVES)
            raise InvalidParameters([f"'format' has the unknown directive {found[0]!r}, known are {known}"])
        return f"{moment.year:04}" if found[1] == "Y" else moment.strftime(found[0])

    return {"text": re.sub(r"%(.?)", directive, pattern, flags=re.DOTALL)}


def _moment(arguments: dict[str, Any], name: str) -> tuple[datetime, str]:
    wanted = optional_text(arguments, "timezone")
    target: tzinfo = UTC if wanted is None else zone(wanted)
    moment, note = moment_of(text_of(arguments, name), target, name)
    return (moment if wanted is None else in_zone(moment, target)), note


def _in_calendar(moment: datetime, months: int, days: int) -> tuple[datetime, str]:
    index = moment.year * 12 + moment.month - 1 + months
    year, month = index // 12, index % 12 + 1
    if not 1 <= year <= _MAX_YEARS:
        raise _outside()
    day = min(moment.day, calendar.monthrange(year, month)[1])
    try:
        wall = moment.replace(year=year, month=month, day=day, tzinfo=None) + timedelta(days=days)
    except OverflowError:
        raise _outside() from None
    return on_the_clock(wall, moment.tzinfo or UTC)


def _moment_fields(moment: datetime, note: str = "") -> dict[str, Any]:
    unix = moment.timestamp()
    fields: dict[str, Any] = {
        "datetime": moment.isoformat(),
        "timezone": str(moment.tzinfo),
        "date": moment.date().isoformat(),
        "time": moment.time().isoformat(timespec="seconds"),
        "weekday": _WEEKDAYS[moment.weekday()],
        "unix": int(unix) if unix.is_integer() else unix,
    }
    return {**fields, "note": note} if note else fields


def _in_words(passed: timedelta) -> str:
    left = abs(passed) // timedelta(seconds=1)
    words: list[str] = []
    for unit in ("days", "hours", "minutes", "seconds"):
        count, left = divmod(left, _SECONDS[unit])
        if count:
            words.append(f"{count} {unit[:-1] if count == 1 else unit}")
    return ("minus " if passed < timedelta() and words else "") + (" ".join(words) or "0 seconds")


def _outside() -> InvalidParameters:
    return InvalidParameters(["the result is outside the years 1 to 9999"])
