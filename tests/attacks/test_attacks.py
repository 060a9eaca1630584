"""``python -m tests.attacks``: it measures, and it fails when an attack succeeds."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.attack import Attack, Target
from tests.attacks.found import attacks
from tests.attacks.measure import MIB, measured
from tests.support.loop_watch import watch
from tests.support.raw_http import request, statuses

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and descriptors are read from /proc"),
]
ROOT = Path(__file__).parents[2]


def made(name: str, **env: str) -> str:
    """What the command says when it makes one attack that does not succeed."""
    command = [sys.executable, "-m", "tests.attacks", name]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.requirement("I9.5.1")
def test_an_attack_is_told_with_memory_descriptors_and_the_slowest_call_of_the_second_client() -> None:
    said = made("nothing")
    row = said.splitlines()[1].split()
    assert row[:2] == ["nothing", "I9.5.1"]
    assert all(0 < int(memory) < 500 for memory in row[2:5])
    assert int(row[5]) >= int(row[7]) > 0
    assert int(row[10]) > 0
    assert said.endswith("1 passed, 0 failed\n")


@pytest.mark.requirement("I9.5.1")
def test_an_attack_that_succeeds_is_a_failure() -> None:
    def wrong(target: Target) -> None:
        assert statuses(target.server.exchange(request("GET", "/", ("connection", "close")))) == [200]

    def deadly(target: Target) -> None:
        target.server.stop()

    assert "404" in str(measured(Attack("I9.5.1", "a wrong answer", wrong)).faults)
    assert "the server ended" in str(measured(Attack("I9.5.1", "the end of the server", deadly)).faults)


@pytest.mark.requirement("I9.5.1")
def test_an_attack_that_costs_more_memory_than_it_may_is_a_failure() -> None:
    def nothing(target: Target) -> None:
        assert target.folder.is_dir()

    figures = measured(Attack("I9.5.1", "no memory allowed", nothing, memory_mib=-1))
    assert "memory grew by" in str(figures.faults)
    assert figures.memory[1] > 5 * MIB


@pytest.mark.requirement("I24.5.2")
def test_the_watchdog_sees_each_stall_and_no_crowd_of_short_turns() -> None:
    import uvloop

    def of_python(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    def that_keeps_the_lock() -> None:
        re.compile("[a-z][a-z0-9]*://").search("x" * 15_000)

    async def seen(work: Callable[[], None], times: int, pause: float) -> list[float]:
        found = list[float]()
        watch(asyncio.get_running_loop(), lambda seconds, _: found.append(seconds))
        for _ in range(times):
            await asyncio.sleep(pause)
            work()
        await asyncio.sleep(0.05)
        return found

    for run in (asyncio.run, uvloop.run):
        assert len(run(seen(lambda: of_python(0.3), 3, pause=0.025))) == 3
        assert len(run(seen(that_keeps_the_lock, 8, pause=0.025))) == 8
        assert max(run(seen(lambda: of_python(0.005), 100, pause=0)), default=0) < 0.1


@pytest.mark.requirement("I9.5.1")
def test_every_attack_names_its_requirement_and_is_found_by_its_module() -> None:
    found = attacks()
    assert "nothing" in found
    assert all(each.requirement.startswith(("I9.", "I12.", "I24.")) and each.title for each in found.values())


@pytest.mark.long
@pytest.mark.requirement("I9.5.3")
def test_a_crowd_gets_every_answer_while_configs_change_and_upstreams_crash() -> None:
    said = made("crowd", TOOLSPAN_CROWD_SECONDS="5")
    assert " 0 wrong, 0 lost; " in said
    assert "1 passed, 0 failed" in said


@pytest.mark.long
@pytest.mark.requirement("I24.5.4")
def test_a_second_client_is_served_while_handlers_compute() -> None:
    assert "1 passed, 0 failed" in made("computing_handlers")


@pytest.mark.long
@pytest.mark.requirement("I12.1.16")
@pytest.mark.parametrize("name", ["workspace_escapes", "sandbox_escapes"])
def test_neither_the_workspace_nor_the_sandbox_lets_anything_out(name: str) -> None:
    assert "1 passed, 0 failed" in made(name)
