"""Programs that start warm are what cold ones are: children of this process, with what they were given."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.served import INITIALIZE, StdioServer, command, run, write_config
from tests.support.waiting import BOUND_S

pytestmark = [
    pytest.mark.requirement("I10.6.1"),
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every start is cold"),
]


def is_warm(pid: int) -> bool:
    """Whether the process is a fork: then it has the command line of what it was forked from."""
    return b"tests.support.warm" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_server_starts_warm_and_is_a_child_that_answers_and_is_signalled(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert "result" in server.ask(INITIALIZE)
        assert is_warm(server.process.pid)
        server.process.send_signal(signal.SIGKILL)
        assert server.process.wait(BOUND_S) == -signal.SIGKILL


@pytest.mark.cold
def test_a_test_that_is_marked_cold_starts_programs_as_ever(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path)) as server:
        assert "result" in server.ask(INITIALIZE)
        assert not is_warm(server.process.pid)


def test_a_variable_that_python_reads_at_its_start_makes_a_start_cold(tmp_path: Path) -> None:
    with StdioServer(write_config(tmp_path), env={"PYTHONUTF8": "1"}) as server:
        assert "result" in server.ask(INITIALIZE)
        assert not is_warm(server.process.pid)


def test_its_output_and_exit_code_are_its_own(tmp_path: Path) -> None:
    done = run(["--no-such-option"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--no-such-option" in done.stderr


def test_it_has_the_folder_and_the_environment_that_it_was_given(tmp_path: Path) -> None:
    config = write_config(tmp_path, limits={"page_size": "${OF_THIS_TEST}"})
    without = run([], tmp_path)
    assert without.returncode == 2
    assert str(config) in without.stderr and "OF_THIS_TEST" in without.stderr
    with StdioServer(config, env={"OF_THIS_TEST": "7"}) as server:
        assert "result" in server.ask(INITIALIZE)
        assert is_warm(server.process.pid)


def test_a_folder_that_is_not_there_is_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        subprocess.run(command(), cwd=tmp_path / "none", check=False)
