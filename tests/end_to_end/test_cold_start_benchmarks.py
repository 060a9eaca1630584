"""The benchmark of cold starts runs whole commands, and sets each beside Python's own start."""

from __future__ import annotations

import pytest

from benchmarks.cold_starts import HEADS, LIMITS_S, PYTHON, measured


@pytest.mark.long
@pytest.mark.requirement("I13.3.22")
def test_each_command_with_a_limit_has_its_row_beside_python_alone() -> None:
    rows = {row[0]: row for row in measured(rounds=1)}
    assert all(len(row) == len(HEADS) for row in rows.values())
    assert float(rows[PYTHON][4]) == 1.0
    assert {name: float(rows[name][5]) for name in LIMITS_S} == LIMITS_S
    assert all(float(rows[name][2]) >= float(rows[name][1]) > 0 for name in LIMITS_S)
