"""Trials of a run are gathered for a commit, unless somebody waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.support.waiting import BOUND_S
from toolspan_bridge.validation import Store, Trial
from toolspan_bridge.validation.runs import writer
from toolspan_bridge.validation.runs.writer import TrialWriter

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("I14.6.34")]


def trial(name: str) -> Trial:
    return Trial("offline/keyword", "default", name, "2026-11-26T10:00:00.000Z", True, "", {})


async def test_what_is_waited_for_is_written_at_once_and_what_comes_later_is_gathered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_GATHER_S", "_MOST_GATHER_S"):
        monkeypatch.setattr(writer, name, 10 * BOUND_S)
    commits: list[list[str]] = []
    told: list[str] = []

    async def append(trials: Sequence[Trial]) -> list[Trial]:
        commits.append([each.scenario for each in trials])
        return list(trials)

    with Store.open(tmp_path / "validation.sqlite3") as store, anyio.fail_after(BOUND_S):
        async with (
            anyio.create_task_group() as tasks,
            TrialWriter(store, lambda kept: told.append(kept.scenario), append) as writing,
        ):
            tasks.start_soon(writing.run)
            await writing.keep(trial("a"))
            await writing.written(at_once=True)
            assert told == ["a"]
            await writing.keep(trial("b"))
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            await writing.keep(trial("c"), at_once=True)
            assert told == ["a", "b", "c"]
            await writing.keep(trial("d"))
    assert commits == [["a"], ["b", "c"], ["d"]], "the end of the block writes the last"
