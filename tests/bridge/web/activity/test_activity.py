"""Runs of the real loop, recorded as their events pass, and followed as they are."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge.errors import ProviderError
from toolspan_bridge.events import Answer, End, Event, TextDelta, ToolCallFinished, ToolCallStarted
from toolspan_bridge.messages import ToolOutcome, Usage
from toolspan_bridge.providers.deployments import Tried, on_tried
from toolspan_bridge.web.activity import About, Activity, ActivityLog, Entry
from toolspan_bridge.web.activity.activity import Told
from toolspan_bridge.web.activity.log import Filter

pytestmark = pytest.mark.anyio
ABOUT = About("token ann", "/v1/messages", "ci", "r1")
ALL = Filter({})


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ActivityLog]:
    with closing(ActivityLog(tmp_path)) as log:
        yield log


def redact(text: str) -> str:
    return text.replace("hunter2", "***")


async def events(*, fails: bool = False) -> AsyncGenerator[Event]:
    tell = on_tried.get()
    assert tell is not None
    tell(Tried("a/m", "failed", "429 hunter2"))
    yield TextDelta("Hel")
    yield ToolCallStarted("c1", "files", "Read", {"path": "hunter2"}, 1)
    failed: dict[str, Any] = {"success": False, "error": "no file hunter2", "error_code": "not_found"}
    yield ToolCallFinished("c1", "files", "Read", ToolOutcome("c1", "Read", failed), 1)
    if fails:
        raise ProviderError("it broke with sk-abcdefghijklmnop and hunter2", status=500)
    yield End(Answer("Hello hunter2", "m", "p", (), Usage(10, 5), 1, usd=0.5))


async def passed(activity: Activity, source: AsyncGenerator[Event], most: int = 100) -> int:
    watch = activity.watch(ABOUT, model="m", provider="p", question="What is hunter2?")
    watched = activity.watched(source, watch)
    count = 0
    async with aclosing(watched) as found:
        async for _ in found:
            count += 1
            if count == most:
                break
    return count


@pytest.mark.requirement("I15.3.64")
async def test_a_run_and_its_calls_are_recorded_as_their_events_pass(log: ActivityLog) -> None:
    activity = Activity(log, redact)
    async with activity.writing():
        assert await passed(activity, events()) == 4
        run, call = await activity.listed(ALL, None, 10)
    assert (run.kind, run.about, run.status, run.usd, run.input_tokens, run.tools) == (
        "run",
        ABOUT,
        "ok",
        0.5,
        10,
        1,
    )
    assert run.first_ms is not None
    assert run.first_ms <= run.total_ms
    assert run.tried[0]["reason"] == "429 ***"
    assert (call.kind, call.server, call.tool, call.status, call.error_code) == (
        "tool",
        "files",
        "Read",
        "error",
        "not_found",
    )
    assert (call.error, call.about.group) == ("no file ***", "r1")
    assert run.text == call.text == ""
    assert on_tried.get() is None


@pytest.mark.requirement("I15.3.64")
async def test_a_run_that_fails_or_is_left_is_recorded_as_that(log: ActivityLog) -> None:
    activity = Activity(log, redact)
    with pytest.raises(ProviderError):
        await passed(activity, events(fails=True))
    await passed(activity, events(), most=1)
    left, failed, _ = await activity.listed(ALL, None, 10)
    assert (failed.status, failed.error_code, failed.error) == (
        "error",
        "provider",
        "it broke with *** and ***",
    )
    assert left.status == "cancelled"


@pytest.mark.requirement("I15.3.65")
async def test_texts_are_kept_only_where_they_are_asked_for_and_never_secrets(log: ActivityLog) -> None:
    activity = Activity(log, redact, texts=True)
    await passed(activity, events())
    run, call = await activity.listed(ALL, None, 10)
    assert json.loads(run.text) == {"question": "What is ***?", "answer": "Hello ***"}
    assert json.loads(call.text)["arguments"] == {"path": "***"}


@pytest.mark.requirement("I15.3.66")
async def test_followers_get_what_they_missed_and_what_comes_each_once(log: ActivityLog) -> None:
    activity = Activity(log)
    for _ in range(3):
        activity.record(Entry("request", time.time()))
    await activity.flush()

    async def first(last: int | None, most: int, done: list[Told]) -> None:
        async with aclosing(activity.follow(last)) as found:
            async for each in found:
                done.append(each)
                if len(done) == most:
                    return

    missed: list[Told] = []
    await first(1, 2, missed)
    assert [each.id for each in missed] == [2, 3]
    new: list[Told] = []
    with anyio.fail_after(BOUND_S):
        async with activity.writing(), anyio.create_task_group() as tasks:
            tasks.start_soon(first, 3, 2, new)
            activity.record(Entry("request", time.time()))
            activity.record(Entry("request", time.time()))
    assert [(each.id, each.data["id"]) for each in new] == [(4, 4), (5, 5)]


@pytest.mark.requirement("I15.3.66")
async def test_a_follower_sees_what_another_process_writes(log: ActivityLog, tmp_path: Path) -> None:
    activity = Activity(log)
    with anyio.fail_after(BOUND_S), closing(ActivityLog(tmp_path)) as other:
        async with aclosing(activity.follow(0)) as found:
            other.append([Entry("request", time.time())])
            assert (await anext(found)).id == 1


@pytest.mark.requirement("I15.3.63")
async def test_without_a_log_nothing_is_kept_and_nothing_fails() -> None:
    activity = Activity(None)
    assert await passed(activity, events()) == 4
    assert await activity.listed(ALL, None, 10) == []
    assert (await activity.summary(0, 1)).runs.count == 0
