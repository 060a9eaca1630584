"""Every example runs and shows something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.requirement("I2.4.4")
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    assert "Traceback" not in ended.stderr


def test_there_are_examples() -> None:
    assert list(EXAMPLES.glob("*.py"))
