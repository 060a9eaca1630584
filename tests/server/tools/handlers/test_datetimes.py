"""Date and time in any IANA zone, also where clocks are changed and where calendars end."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.executors import builtin, executor_of, handled
from toolspan_server import ToolFailure
from toolspan_server.calls.caller import LOCAL
from toolspan_server.errors import InvalidParameters
from toolspan_server.tools.handlers._moments import moment_of
from toolspan_server.tools.handlers._zones import zone

pytestmark = pytest.mark.anyio


async def refusal(handler: str, **arguments: Any) -> str:
    with pytest.raises(InvalidParameters) as raised:
        await handled(handler, **arguments)
    return raised.value.error.removeprefix("Invalid parameters: ")


async def when(handler: str, **arguments: Any) -> str:
    return str((await handled(handler, **arguments))["datetime"])


@pytest.mark.requirement("I2.4.2")
async def test_now_is_now_in_the_zone_asked_for() -> None:
    executor = executor_of(builtin("datetime_now"))
    told = (await executor.execute("datetime_now", {"timezone": "Asia/Tokyo"}, LOCAL)).result
    moment = datetime.fromisoformat(told["datetime"])
    assert abs(moment - datetime.now(UTC)) < timedelta(seconds=30)
    assert moment.utcoffset() == timedelta(hours=9)
    assert told["timezone"] == "Asia/Tokyo"
    assert told["date"] + "T" + told["time"] == moment.replace(tzinfo=None, microsecond=0).isoformat()
    assert told["weekday"] == moment.strftime("%A")
    assert told["unix"] == moment.timestamp()


async def test_now_is_in_utc_unless_a_zone_is_named() -> None:
    assert (await handled("datetime_now"))["timezone"] == "UTC"
    assert (await handled("datetime_now", timezone="europe/PARIS"))["timezone"] == "Europe/Paris"


@pytest.mark.requirement("I2.4.2", "I2.8.4")
@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/localtime",
        "Europe/../Europe/Paris",
        "Europe\\Paris",
        "America",
        "localtime",
        "posixrules",
        "",
        "\0",
        "\ud800",
        "x" * 100_000,
        "Mars/Olympus",
        "+02:00",
    ],
)
async def test_what_is_no_iana_zone_is_refused_and_nothing_is_opened_for_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone("Europe/Paris")
    monkeypatch.setattr(zoneinfo, "ZoneInfo", None)
    told = await refusal("datetime_now", timezone=name)
    assert told.startswith("'timezone' must be an IANA time zone")
    assert len(told) < 300


async def test_a_zone_that_is_nearly_right_is_suggested() -> None:
    assert "did you mean 'Europe/Paris'?" in await refusal("datetime_now", timezone="Europe/Pari")


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-28", "2026-03-28T00:00:00+01:00"),
        ("2026-03-28T14:30:00Z", "2026-03-28T15:30:00+01:00"),
        ("2026-03-28T14:30:00+05:30", "2026-03-28T10:00:00+01:00"),
        ("2026-03-28   14:30", "2026-03-28T14:30:00+01:00"),
        ("20260328", "2026-03-28T00:00:00+01:00"),
        ("2026-W13-6", "2026-03-28T00:00:00+01:00"),
        ("2026/03/28 14:30:15", "2026-03-28T14:30:15+01:00"),
        ("28.03.2026 14:30", "2026-03-28T14:30:00+01:00"),
        ("28 March 2026 2:30 pm", "2026-03-28T14:30:00+01:00"),
        ("Saturday, March 28th, 2026 at 2:30 P.M.", "2026-03-28T14:30:00+01:00"),
        ("Mar 28 2026", "2026-03-28T00:00:00+01:00"),
        ("28-Mar-2026", "2026-03-28T00:00:00+01:00"),
        ("Sat, 28 Mar 2026 14:30:00 +0000", "2026-03-28T15:30:00+01:00"),
        ("1774708200", "2026-03-28T15:30:00+01:00"),
        ("1774708200.5", "2026-03-28T15:30:00.500000+01:00"),
    ],
)
async def test_common_ways_to_write_a_moment_are_read(text: str, expected: str) -> None:
    assert await when("datetime_parse", text=text, timezone="Europe/Paris") == expected


async def test_an_offset_is_kept_when_no_zone_is_asked_for() -> None:
    told = await handled("datetime_parse", text="2026-03-28T14:30:00+05:30")
    assert (told["datetime"], told["timezone"]) == ("2026-03-28T14:30:00+05:30", "UTC+05:30")
    assert await when("datetime_parse", text="2026-03-28T14:30") == "2026-03-28T14:30:00+00:00"


@pytest.mark.requirement("I2.4.2", "I2.8.4")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "0000-01-01",
        "2026-02-30",
        "2026-13-01",
        "24:00",
        "12 Mar 2026 99:99",
        "999999999999999999",
        "2026-03-28T14:30:00+99:00",
        "Sat, 28 Mar 99999 14:30:00 +0000",
        "28 Mar 2026 14:30:00 +9999999",
        "\0",
        "\ud800",
        "٢٠٢٦-٠٣-٢٨ ",
        "{0.__class__}",
    ],
)
async def test_what_is_no_moment_is_refused(text: str) -> None:
    told = await refusal("datetime_parse", text=text)
    assert told.startswith("'text' must be a date or time such as 2026-03-29T14:30:00+02:00 (got ")


async def test_a_date_that_could_be_two_is_refused_as_ambiguous() -> None:
    assert await refusal("datetime_parse", text="03/04/2026") == (
        "'text' is ambiguous, write the year first as in 2026-03-29 (got '03/04/2026')"
    )


async def test_a_long_text_is_refused() -> None:
    assert await refusal("datetime_parse", text="1" * 101) == "'text' must have at most 100 characters"


@pytest.mark.requirement("I2.4.2")
async def test_a_time_that_clocks_skip_is_moved_forward_and_said_so() -> None:
    told = await handled("datetime_parse", text="2026-03-29T02:30", timezone="Europe/Paris")
    assert told["datetime"] == "2026-03-29T03:30:00+02:00"
    assert told["note"].startswith("2026-03-29 02:30:00 does not exist in Europe/Paris")


@pytest.mark.requirement("I2.4.2")
async def test_of_a_time_that_comes_twice_the_first_is_taken_and_said_so() -> None:
    told = await handled("datetime_parse", text="2026-10-25T02:30", timezone="Europe/Paris")
    assert told["datetime"] == "2026-10-25T02:30:00+02:00"
    assert told["note"].startswith("2026-10-25 02:30:00 comes twice in Europe/Paris")
    assert "note" not in await handled("datetime_parse", text="2026-10-26", timezone="Europe/Paris")


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("start", "steps", "expected"),
    [
        ("2026-01-31", {"months": 1}, "2026-02-28T00:00:00+01:00"),
        ("2024-02-29", {"years": 1}, "2025-02-28T00:00:00+01:00"),
        ("2026-03-15", {"months": -3}, "2025-12-15T00:00:00+01:00"),
        ("2026-03-28T02:30", {"days": 2}, "2026-03-30T02:30:00+02:00"),
        ("2026-03-28T02:30", {"days": 1}, "2026-03-29T03:30:00+02:00"),
        ("2026-03-28T02:30", {"hours": 48}, "2026-03-30T03:30:00+02:00"),
        ("2026-10-25T02:30", {"hours": 1}, "2026-10-25T02:30:00+01:00"),
        (
            "2026-03-28T12:00",
            {"weeks": 1, "days": -1.0, "minutes": 30, "seconds": 1.5},
            "2026-04-03T12:30:01.500000+02:00",
        ),
        ("2026-03-28T12:00", {}, "2026-03-28T12:00:00+01:00"),
    ],
)
async def test_days_step_in_the_calendar_and_hours_as_they_pass(
    start: str, steps: dict[str, Any], expected: str
) -> None:
    assert await when("datetime_add", datetime=start, timezone="Europe/Paris", **steps) == expected


@pytest.mark.requirement("I2.8.4")
@pytest.mark.parametrize(
    "steps",
    [
        {"years": 10**9},
        {"months": -(10**30)},
        {"days": 10**30},
        {"weeks": -(10**9)},
        {"hours": 10**400},
        {"seconds": 1e300},
        {"seconds": -1e12},
    ],
)
async def test_a_result_outside_the_calendar_is_refused(steps: dict[str, Any]) -> None:
    told = await refusal("datetime_add", datetime="2026-03-28", **steps)
    assert told == "the result is outside the years 1 to 9999"


@pytest.mark.parametrize(
    ("text", "name"), [("0001-01-01", "Asia/Tokyo"), ("9999-12-31T23:59:59", "America/New_York")]
)
async def test_the_ends_of_the_calendar_are_an_answer_or_a_refusal(text: str, name: str) -> None:
    try:
        assert (await handled("datetime_parse", text=text, timezone=name))["date"]
    except ToolFailure as failure:
        assert failure.error.endswith("outside the years 1 to 9999")


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ({"days": True}, "'days' must be an integer (got a boolean)"),
        ({"days": 1.5}, "'days' must be an integer (got a number)"),
        ({"hours": "2"}, "'hours' must be a number (got a string)"),
        ({"hours": float("nan")}, "'hours' must be a finite number"),
        ({"datetime": 5}, "'datetime' must be a string (got an integer)"),
    ],
)
async def test_a_step_of_the_wrong_type_is_named(steps: dict[str, Any], told: str) -> None:
    assert await refusal("datetime_add", **{"datetime": "2026-03-28", **steps}) == told


@pytest.mark.requirement("I2.4.2")
@pytest.mark.parametrize(
    ("start", "end", "unit", "expected"),
    [
        (
            "2026-03-28",
            "2026-03-29T03:30",
            "hours",
            {"value": 26.5, "unit": "hours", "text": "1 day 2 hours 30 minutes"},
        ),
        ("2026-03-29", "2026-03-30", "hours", {"value": 23, "unit": "hours", "text": "23 hours"}),
        ("2026-01-08", "2026-01-01", "weeks", {"value": -1, "unit": "weeks", "text": "minus 7 days"}),
        ("2026-01-01", "2026-01-01", None, {"value": 0, "unit": "seconds", "text": "0 seconds"}),
        (
            "2026-01-01T00:00Z",
            "2026-01-01T02:00+01:00",
            "minutes",
            {"value": 60, "unit": "minutes", "text": "1 hour"},
        ),
    ],
)
async def test_a_difference_is_told_as_a_number_and_in_words(
    start: str, end: str, unit: str | None, expected: dict[str, Any]
) -> None:
    more = {} if unit is None else {"unit": unit}
    told = await handled("datetime_difference", start=start, end=end, timezone="Europe/Paris", **more)
    assert told == expected


async def test_an_unknown_unit_is_answered_with_the_known_ones() -> None:
    told = await refusal("datetime_difference", start="2026-01-01", end="2026-01-02", unit="fortnights")
    assert told == "'unit' must be one of: weeks, days, hours, minutes, seconds"


@pytest.mark.requirement("I2.4.2")
async def test_a_moment_is_formatted() -> None:
    told = await handled(
        "datetime_format",
        datetime="2026-03-28T13:05Z",
        format="%A %d %B %Y, %I:%M %p %Z (%z) – 100 %% 日本",
        timezone="Europe/Paris",
    )
    assert told == {"text": "Saturday 28 March 2026, 02:05 PM CET (+0100) – 100 % 日本"}
    assert await handled("datetime_format", datetime="0099-03-01", format="%Y {0.__class__}") == {
        "text": "0099 {0.__class__}"
    }


@pytest.mark.parametrize("pattern", ["%s", "%e", "%", "x%", "%\0", "%-d", "%\n"])
async def test_an_unknown_directive_is_refused(pattern: str) -> None:
    told = await refusal("datetime_format", datetime="2026-03-28", format=pattern)
    assert told.startswith("'format' has the unknown directive")


async def test_a_long_format_is_refused() -> None:
    assert "at most 200 characters" in await refusal(
        "datetime_format", datetime="2026-03-28", format="%Y" * 101
    )


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40) | st.from_regex(r"[0-9TZ:+\-. /]{1,30}", fullmatch=True))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    try:
        moment, _ = moment_of(text, UTC, "text")
    except InvalidParameters:
        return
    assert moment.tzinfo is not None


@settings(max_examples=200, deadline=None)
@given(
    st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(tzinfo=None)),
    st.sampled_from(["UTC", "Europe/Paris", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"]),
)
def test_what_is_told_as_iso_is_read_back_as_the_same_moment(wall: datetime, name: str) -> None:
    moment, _ = moment_of(wall.isoformat(), zone(name), "text")
    again, note = moment_of(moment.isoformat(), zone(name), "text")
    assert (again, note) == (moment, "")
