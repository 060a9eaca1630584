"""Commands run confined and unconfined: what ends them, what is left of them, what they cost the server."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.commands import ran, runner, running
from tests.support.processes import resident
from tests.support.waiting import eventually, until
from toolspan_server.engines.sandbox import Mode, SandboxSettings
from toolspan_server.engines.sandbox._choice import choice

pytestmark = [
    pytest.mark.long,
    pytest.mark.anyio,
    pytest.mark.requirement("I12.3.21"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]
needs_bubblewrap = pytest.mark.skipif(
    sys.platform != "linux" or choice().confinement is None, reason="bubblewrap does not work here"
)
MODES = [pytest.param("required", marks=needs_bubblewrap), pytest.param("off")]
_STUBBORN = (
    "trap '' TERM; sleep {n} & setsid sleep {n} & (setsid sh -c 'trap \"\" TERM; sleep {n} & sleep {n}' &); "
    "nohup sleep {n} & "
)


def unusual() -> str:
    """A time to sleep that no other process sleeps, by which those of a test are found."""
    return f"{1_000_000 + secrets.randbelow(1_000_000_000)}"


@pytest.mark.parametrize("mode", MODES)
async def test_the_output_and_the_status_of_a_command_are_those_of_a_shell_in_the_folder(
    tmp_path: Path, mode: Mode
) -> None:
    async with runner(tmp_path, SandboxSettings(mode=mode)) as shell:
        ending, output = await ran(shell, "pwd; echo wrong >&2; echo made > file; cat; exit 3")
    assert (ending.status, ending.signal, ending.limit) == (3, None, None)
    assert output == f"{tmp_path}\nwrong\n"
    assert (tmp_path / "file").read_text() == "made\n"


@pytest.mark.parametrize("mode", MODES)
async def test_at_its_time_a_command_ends_with_all_that_it_started_whatever_they_ignore(
    tmp_path: Path, mode: Mode
) -> None:
    n = unusual()
    async with runner(tmp_path, SandboxSettings(mode=mode)) as shell:
        ending, output = await ran(shell, _STUBBORN.format(n=n) + "echo begun; while :; do sleep 1; done", 1)
        assert ending.limit == "seconds"
        assert "begun" in output
        assert not running(n)


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path, mode: Mode) -> None:
    n = unusual()
    async with runner(tmp_path, SandboxSettings(mode=mode)) as shell:
        ending, output = await ran(shell, _STUBBORN.format(n=n) + "echo begun")
        assert (ending.status, "begun" in output) == (0, True)
        assert not running(n)


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_ends_its_command(tmp_path: Path, mode: Mode) -> None:
    n = unusual()
    async with (
        runner(tmp_path, SandboxSettings(mode=mode)) as shell,
        anyio.create_task_group() as group,
    ):
        group.start_soon(ran, shell, _STUBBORN.format(n=n) + "sleep 100")
        await until(lambda: running(n))
        group.cancel_scope.cancel()
    assert not running(n)


_SERVER = """
import anyio, sys
from pathlib import Path
from toolspan_server.engines.sandbox import CommandLimits, CommandRunner, SandboxSettings

async def main():
    shell = CommandRunner(Path(sys.argv[1]), SandboxSettings(mode=sys.argv[2]), CommandLimits())
    await shell.run(sys.argv[3], 100)

anyio.run(main)
"""


@pytest.mark.parametrize("mode", MODES)
def test_when_the_server_is_killed_its_commands_end(tmp_path: Path, mode: Mode) -> None:
    n = unusual()
    words = [sys.executable, "-c", _SERVER, str(tmp_path), mode, _STUBBORN.format(n=n) + "sleep 100"]
    with subprocess.Popen(words) as server:
        try:
            assert eventually(lambda: len(set(running(n)) - {server.pid}) > 3)
        finally:
            server.send_signal(signal.SIGKILL)
    assert eventually(lambda: not running(n))


async def test_a_command_that_kills_its_supervisor_is_ended_all_the_same(tmp_path: Path) -> None:
    n = unusual()
    async with runner(tmp_path, SandboxSettings(mode="off")) as shell:
        ending, _ = await ran(shell, f"setsid sleep {n} & kill -KILL $PPID; sleep {n}")
        assert ending.lost
        assert not running(n)


_MANY = """python3 -c '
import os, time
for number in range(300):
    if os.fork() == 0:
        number % 2 and os.setsid()
        time.sleep({n})
time.sleep({n})'"""


@pytest.mark.parametrize("mode", MODES)
async def test_a_command_of_too_many_processes_is_ended(tmp_path: Path, mode: Mode) -> None:
    """Their number is bounded: as root, whom no kernel limit holds, a real fork bomb would be one."""
    n = unusual()
    async with runner(tmp_path, SandboxSettings(mode=mode), processes=20) as shell:
        ending, _ = await ran(shell, _MANY.format(n=n))
        assert ending.limit == "processes"
        assert not running(n)


_HOG = "python3 -c 'x = bytearray({mib} << 20); import time; time.sleep({n})'"


@pytest.mark.parametrize("mode", MODES)
async def test_one_process_cannot_have_more_memory_than_the_limit(tmp_path: Path, mode: Mode) -> None:
    async with runner(tmp_path, SandboxSettings(mode=mode), memory_bytes=200 << 20) as shell:
        ending, output = await ran(shell, _HOG.format(mib=400, n=100))
    assert (ending.status, "MemoryError" in output) == (1, True)


@pytest.mark.parametrize("mode", MODES)
async def test_all_processes_together_cannot_have_more_memory_than_the_limit(
    tmp_path: Path, mode: Mode
) -> None:
    n = unusual()
    async with runner(tmp_path, SandboxSettings(mode=mode), memory_bytes=200 << 20) as shell:
        ending, _ = await ran(shell, f"{_HOG.format(mib=120, n=n)} & {_HOG.format(mib=120, n=n)} & wait")
        assert ending.limit == "memory_bytes"
        assert not running(n)


@pytest.mark.parametrize("mode", MODES)
async def test_a_command_that_computes_for_too_long_is_ended_also_by_many_short_processes(
    tmp_path: Path, mode: Mode
) -> None:
    async with runner(tmp_path, SandboxSettings(mode=mode), cpu_seconds=1) as shell:
        ending, _ = await ran(
            shell, "while :; do sh -c 'i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done'; done"
        )
    assert ending.limit == "cpu_seconds"


@pytest.mark.parametrize("mode", MODES)
async def test_no_file_grows_beyond_the_limit(tmp_path: Path, mode: Mode) -> None:
    async with runner(tmp_path, SandboxSettings(mode=mode), file_bytes=1 << 20) as shell:
        await ran(shell, "head -c 5000000 /dev/zero > large")
    assert (tmp_path / "large").stat().st_size == 1 << 20


@pytest.mark.parametrize("mode", MODES)
async def test_endless_output_is_counted_while_it_is_read_and_ends_the_command(
    tmp_path: Path, mode: Mode
) -> None:
    before = resident(os.getpid())
    async with runner(tmp_path, SandboxSettings(mode=mode), output_bytes=1_000) as shell:
        ending, output = await ran(shell, "echo first; yes")
    assert ending.limit == "total_output_bytes"
    assert output.startswith("first\ny\n")
    assert "output_bytes is 1,000" in output
    assert len(output) < 1_200
    assert resident(os.getpid()) - before < 32 << 20


@pytest.mark.parametrize("mode", MODES)
async def test_the_environment_has_none_of_the_servers_secrets(
    tmp_path: Path, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-server")
    settings = SandboxSettings(mode=mode, environment={"GIVEN": "by the config"})
    async with runner(tmp_path, settings) as shell:
        _, output = await ran(shell, "env; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/self/environ")
    assert "GIVEN=by the config" in output
    assert "sk-of-the-server" not in output
    assert "OPENAI_API_KEY" not in output
