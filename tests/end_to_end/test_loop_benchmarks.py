"""The measure of the loop runs, and says what it measured."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.loops import FOLDER, HEADS, measured, rows

pytestmark = [pytest.mark.long, pytest.mark.requirement("I12.7.5")]


def test_our_loop_is_measured_beside_no_loop_at_all() -> None:
    with subprocess.Popen([sys.executable, FOLDER / "model.py"], stdout=subprocess.PIPE, text=True) as model:
        try:
            assert model.stdout is not None
            url = f"http://127.0.0.1:{int(model.stdout.readline())}/v1"
            found = {name: measured(name, url, turns=3, rounds=2) for name in ("no loop", "toolspan")}
        finally:
            model.kill()
    table = list(rows({name: each for name, each in found.items() if each}, turns=3))
    assert [row[0] for row in table] == ["no loop", "toolspan"]
    assert all(len(row) == len(HEADS) and float(row[5]) >= 100 for row in table)
