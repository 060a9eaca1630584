"""Time zones: the names of the IANA database, and nothing else that a path could reach."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from ...common.json_values import shortened
from ...errors import InvalidParameters


def zone(name: str, parameter: str = "timezone") -> tzinfo:
    """The zone ``name`` (``Europe/Paris``, in any case). Raises ``InvalidParameters``."""
    from zoneinfo import ZoneInfo

    if name.upper() in {"UTC", "Z"}:
        return UTC
    known = _names().get(name.lower())
    if known is not None:
        return ZoneInfo(known)
    close = get_close_matches(name.lower(), _names(), n=1, cutoff=0.7) if len(name) < 50 else []
    hint = f"did you mean '{_names()[close[0]]}'?" if close else "such as Europe/Paris"
    shown = shortened(name, 60)
    raise InvalidParameters([f"'{parameter}' must be an IANA time zone, {hint} (got {shown!r})"])


def in_zone(moment: datetime, target: tzinfo) -> datetime:
    """``moment`` as the clocks of ``target`` show it. Raises ``InvalidParameters``, outside the calendar."""
    try:
        return moment.astimezone(target)
    except OverflowError:
        raise InvalidParameters(["the result is outside the years 1 to 9999"]) from None


def on_the_clock(wall: datetime, target: tzinfo) -> tuple[datetime, str]:
    """The moment when the clocks of ``target`` show ``wall`` (naive), and a note where that needs one.

    A time that the clocks skip is moved forward by what they skip; of a time that they show twice,
    the first is taken.
    """
    named = wall.replace(tzinfo=target, fold=0)
    moment = in_zone(in_zone(named, UTC), target)
    shown = wall.isoformat(sep=" ")
    if moment.replace(tzinfo=None) != wall:
        later = moment.replace(tzinfo=None).isoformat(sep=" ")
        return (
            moment,
            f"{shown} does not exist in {target}, where clocks are put forward then; taken as {later}",
        )
    if named.utcoffset() != named.replace(fold=1).utcoffset():
        return moment, f"{shown} comes twice in {target}, where clocks are put back then; the first is taken"
    return moment, ""


@cache
def _names() -> dict[str, str]:
    """Every IANA name, by its lower-case form."""
    names = files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return {name.lower(): name for name in names}
