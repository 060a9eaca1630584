"""One rule of waits between attempts, for tools that call web APIs and for providers of models."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from toolspan_server.common.retry_waits import backoff, seconds_until

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.requirement("I10.4.8")
def test_a_wait_doubles_with_each_attempt_up_to_its_cap() -> None:
    assert [backoff(0.5, attempt, 3.0) for attempt in (1, 2, 3, 4, 50)] == [0.5, 1.0, 2.0, 3.0, 3.0]


@pytest.mark.requirement("I10.4.8")
@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:20 GMT", 20.0),
        ("Wed, 21 Oct 2026 07:28:20 -0000", 20.0),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0.0),
        ("tomorrow", None),
        ("Wed, 99 Oct 2026 07:28:00 GMT", None),
        ("", None),
    ],
)
def test_a_date_is_measured_by_the_clock_of_the_server_that_sent_it(date: str, seconds: float | None) -> None:
    assert seconds_until(date, DATE) == seconds


@pytest.mark.requirement("I10.4.8")
def test_a_date_without_a_servers_clock_is_measured_by_this_machines() -> None:
    wait = seconds_until(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True))
    assert wait is not None and 3_000 < wait <= 3_600


def test_a_clock_that_cannot_be_read_measures_nothing() -> None:
    assert seconds_until(DATE, "noon") is None
