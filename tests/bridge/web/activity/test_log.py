"""The activity log: what is kept, found again, counted, and dropped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from toolspan_bridge.web.activity import ACTIVITY_FILE, About, ActivityLog, Entry
from toolspan_bridge.web.activity.latency import bucket_of, percentile
from toolspan_bridge.web.activity.log import Filter

NOON = 1_783_857_600.0  # 2026-07-12, 12:00 UTC
HOUR, DAY = 3_600.0, 86_400.0
ALL = Filter({})


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> Iterator[ActivityLog]:
    with closing(ActivityLog(tmp_path, clock=clock)) as log:
        yield log


def run(at: float = NOON, model: str = "gpt-4o", *, ms: float = 100.0, usd: float | None = 0.25) -> Entry:
    about = About("token ann", "/v1/chat/completions", "ci", "r1")
    return Entry("run", at, about, model, "openai", total_ms=ms, input_tokens=10, output_tokens=5, usd=usd)


def call(at: float = NOON, *, status: str = "ok", ms: float = 3.0) -> Entry:
    code = "timeout" if status == "error" else ""
    return Entry(
        "tool",
        at,
        About("token ann"),
        "gpt-4o",
        "openai",
        "files",
        "Read",
        status,
        code,
        total_ms=ms,
        usd=0.0,
    )  # type: ignore[arg-type]  # of the two


@pytest.mark.requirement("I15.3.60")
def test_entries_come_back_as_they_were_written_with_ids_that_grow_after_a_restart(
    log: ActivityLog, tmp_path: Path
) -> None:
    tried = ({"deployment": "a/m", "outcome": "failed", "reason": "429", "seconds": 0.1},)
    whole = Entry(
        "run",
        NOON,
        About("local", "/api", "k", "g"),
        "m",
        "p",
        "",
        "",
        "error",
        "provider",
        "no",
        1.5,
        2.5,
        1,
        2,
        None,
        3,
        tried,
        "text",
    )
    written = log.append([whole, run()])
    assert [each.id for each in written] == [1, 2]
    assert log.listed(ALL, None, 10) == written[::-1]
    log.close()
    with closing(ActivityLog(tmp_path, clock=Clock())) as again:
        assert again.last == 2
        (third,) = again.append([run()])
        assert third.id == 3
        assert again.after(1, 10) == [written[1], third]


@pytest.mark.requirement("I15.3.61")
def test_entries_are_found_by_their_values_and_times_page_by_page(log: ActivityLog) -> None:
    log.append([run(NOON + n) for n in range(5)] + [call(NOON + 5), call(NOON + 6, status="error")])
    assert [each.id for each in log.listed(Filter({"kind": "tool"}), None, 10)] == [7, 6]
    assert [each.id for each in log.listed(Filter({"status": "error", "tool": "Read"}), None, 10)] == [7]
    assert [each.id for each in log.listed(Filter({"key": "ci"}, NOON + 2, NOON + 4), None, 10)] == [4, 3]
    assert [each.id for each in log.listed(ALL, 6, 2)] == [5, 4]


@pytest.mark.requirement("I15.3.62")
def test_a_summary_counts_each_model_and_tool_of_the_hours(log: ActivityLog) -> None:
    log.append([run(NOON - 2 * HOUR), run(ms=100), run(ms=200), run(ms=10_000, usd=None), run(model="gpt-5")])
    log.append([call(), call(), call(status="error", ms=50)])
    found = log.summary(NOON, NOON + 10).as_dict()
    assert (found["since"], found["until"]) == ("2026-07-12T12:00:00.000Z", "2026-07-12T13:00:00.000Z")
    assert [(each["name"], each["count"]) for each in found["models"]] == [
        ("openai/gpt-4o", 3),
        ("openai/gpt-5", 1),
    ]
    first = found["models"][0]
    assert (first["usd"], first["unpriced"], first["input_tokens"], first["output_tokens"]) == (
        0.5,
        1,
        30,
        15,
    )
    assert first["p50_ms"] == pytest.approx(200, rel=0.06)
    assert first["p99_ms"] == pytest.approx(10_000, rel=0.06)
    assert first["mean_ms"] == pytest.approx(10_300 / 3, abs=0.001)
    (tool,) = found["tools"]
    assert (tool["name"], tool["count"], tool["errors"]) == ("files/Read", 3, 1)
    assert found["runs"]["count"] == 4
    assert log.summary(NOON - 2 * HOUR, NOON).as_dict()["runs"]["count"] == 5


@pytest.mark.requirement("I15.3.62")
def test_percentiles_are_right_to_a_twentieth_of_what_sorting_gives() -> None:
    dice = random.Random(7)
    times = sorted(dice.lognormvariate(4, 2) for _ in range(5_000))
    counts: dict[int, int] = {}
    for each in times:
        counts[bucket_of(each)] = counts.get(bucket_of(each), 0) + 1
    for share in (0.5, 0.9, 0.99):
        exact = times[int(share * len(times)) - 1]
        assert percentile(counts, share) == pytest.approx(exact, rel=0.05)
    assert percentile({}, 0.5) is None


@pytest.mark.requirement("I15.3.63")
def test_what_is_too_old_or_too_much_is_dropped(tmp_path: Path, clock: Clock) -> None:
    with closing(ActivityLog(tmp_path, keep_days=2, keep_entries=10, clock=clock)) as log:
        log.append([run(NOON - 3 * DAY), run(NOON - DAY)])
        clock.now = NOON
        for _ in range(3):
            log.append([run() for _ in range(10)])
        kept = log.listed(ALL, None, 100)
        assert [each.id for each in kept] == list(range(32, 22, -1))
        assert log.summary(NOON - 10 * DAY, NOON).runs.count == 31
    assert (tmp_path / ACTIVITY_FILE).stat().st_mode & 0o077 == 0
