"""The benchmark of trials measures what it says, and every trial of it is right."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.postgres import POSTGRES, schema
from tests.support.waiting import BOUND_S

pytestmark = [pytest.mark.long, pytest.mark.requirement("I14.6.22")]


def test_trials_are_made_in_every_way_and_told_beside_the_ideal_and_a_bare_client() -> None:
    small = ("--trials", "40", "--at-once", "8", "--ms", "1", "--rounds", "1")
    with schema("trials_benchmark"):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.trials", *small, "--postgres", POSTGRES, "--workers", "2"],
            capture_output=True,
            text=True,
            timeout=4 * BOUND_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in rows] == [
        "the ideal",
        "a bare client",
        "a script, in the process",
        "a script, by 2 workers",
        "over a socket",
        "over a socket, by 2 workers",
    ]
    assert all(float(row[4]) > 0 for row in rows[1:])
