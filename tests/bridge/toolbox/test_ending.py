"""Nothing is left behind: not after the block, not after Ctrl+C, and not by a server that resists."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.mcp_peers import raw
from tests.support.waiting import BOUND_S, eventually, gone
from toolspan_bridge.toolbox import Toolbox

pytestmark = [pytest.mark.long, pytest.mark.requirement("I2.6.1")]

ROOT = Path(__file__).parents[3]


@pytest.mark.anyio
async def test_a_server_that_resists_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    async with Toolbox.connect([raw("stubborn", str(pids)), raw(name="kind")]) as toolbox:
        assert toolbox.failures == ()
        started = [int(pid) for pid in pids.read_text().split()]
        assert not any(gone(pid) for pid in started)
    assert eventually(lambda: all(gone(pid) for pid in started))


@pytest.mark.anyio
async def test_cancelling_the_block_ends_the_servers(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with anyio.fail_after(BOUND_S), anyio.CancelScope() as scope:
        async with Toolbox.connect([raw("parent", str(pids))]):
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert eventually(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))


@pytest.mark.anyio
async def test_cancelling_while_servers_connect_ends_them(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def connect() -> None:
        async with Toolbox.connect([raw("parent", str(pids)), raw("silent", name="silent")]):
            raise AssertionError("the silent server does not answer")

    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect)
            while not (pids.exists() and len(pids.read_text().split()) == 2):  # noqa: ASYNC110  # a file tells
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert eventually(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
@pytest.mark.requirement("I12.2.21")
def test_a_bridge_that_is_killed_leaves_no_server_and_nothing_that_one_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.hold_toolbox", str(pids)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"connected\n"
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2 and not any(gone(pid) for pid in started)
    process.kill()
    process.wait()
    process.stdout.close()
    assert eventually(lambda: all(gone(pid) for pid in started))


def test_ctrl_c_during_a_call_ends_everything_and_leaves_no_orphan(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.hold_toolbox", str(pids)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "connected\n"
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=BOUND_S)
    assert process.returncode != 0
    assert "never retrieved" not in said and "cancel scope" not in said
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert eventually(lambda: all(gone(int(pid)) for pid in pids.read_text().split()))
