"""The lock beside the store: one process at a time, for its owner alone, free once its holder is dead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolspan_bridge.errors import StoreError
from toolspan_bridge.validation.storage.lock import locked

pytestmark = pytest.mark.requirement("I10.4.1")
HOLDER = """
import sys
from pathlib import Path
from toolspan_bridge.validation.storage.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_that_another_process_holds_is_named_and_free_when_that_one_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "store.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(StoreError, match=r"store\.lock: another process has held this lock"),
            locked(path, 0.1),
        ):
            pass
        holder.kill()
    with locked(path, 0.1):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_the_lock_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.lock"
    path.touch(0o666)
    path.chmod(0o666)
    with locked(path):
        assert path.stat().st_mode & 0o777 == 0o600


def test_two_threads_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "store.lock"
    with locked(path), pytest.raises(StoreError), locked(path, 0.05):
        pass
