"""The benchmark runs, on both servers, and says what it measured."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEASURES = (
    "stdio: start to first tools/list",
    "stdio: one call",
    "stdio: pipelined",
    "HTTP: one call",
    "HTTP: 8 connections",
)


@pytest.mark.requirement("I2.8.6")
def test_one_run_measures_calls_over_stdio_and_http_on_both_servers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--rounds", "1", "--calls", "8"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"toolspan +mcp low-level", done.stdout)
    for measure in MEASURES:
        row = re.search(
            rf"^{re.escape(measure)} +([\d,.]+) +([\d,.]+) (ms|calls/s) +[\d.]+ x as fast$", done.stdout, re.M
        )
        assert row is not None, done.stdout
        assert all(float(figure.replace(",", "")) > 0 for figure in row.groups()[:2])
