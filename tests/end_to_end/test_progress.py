"""What is shown while ``make demo`` installs: the steps of pip, on a terminal in one line."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import ROOT
from tests.support.waiting import BOUND_S

pytestmark = pytest.mark.requirement("I13.1.3")
_PIP = """
import sys
for number in range(12):
    print(f"Collecting package-{number}")
    print("  some detail")
sys.exit(int(sys.argv[1]))
"""


def run(folder: Path, code: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """``progress.py`` over a module that prints what pip does and exits with ``code``."""
    (folder / "like_pip.py").write_text(_PIP)
    command = [sys.executable, str(ROOT / "scripts" / "progress.py"), "like_pip", code]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


def test_steps_are_shown_and_everything_that_was_said_only_where_it_fails(tmp_path: Path) -> None:
    good = run(tmp_path, "0")
    assert (good.returncode, good.stderr) == (0, "  1: Collecting package-0\n  11: Collecting package-10\n")
    bad = run(tmp_path, "3")
    assert bad.returncode == 3
    assert bad.stderr.count("some detail") == 12


def test_on_a_terminal_the_steps_share_a_line_which_is_gone_at_the_end(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    done = run(tmp_path, "0", theirs)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\n" not in shown
    assert "12: Collecting package-11" in shown
    assert shown.endswith("\r\x1b[K")
