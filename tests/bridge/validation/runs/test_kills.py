"""Whatever ends a run, nothing that it reported is lost, and nothing is made twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.killed_runs import killed

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.2.10")]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_runs_that_are_killed_at_any_moment_lose_and_double_nothing(tmp_path: Path) -> None:
    found = killed(tmp_path, 10)
    assert found["kills"] == 10
    assert found["reported"] > 50
    assert (found["lost"], found["doubled"], found["incomplete"]) == ([], [], [])
