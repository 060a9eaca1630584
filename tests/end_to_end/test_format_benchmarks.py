"""The measures of the wire formats run, and say what they measured."""

from __future__ import annotations

import pytest

from benchmarks.formats import HEADS, measured
from benchmarks.measures.formats import render_ms
from toolspan_bridge.formats import format_names


@pytest.mark.requirement("I5.5.1")
def test_every_format_has_its_row_beside_plain_json() -> None:
    rows = list(measured(count=20, size=20_000, rounds=1))
    assert [row[0] for row in rows] == ["json alone", *format_names()]
    assert all(len(row) == len(HEADS) and float(row[4]) > 0 for row in rows)


@pytest.mark.requirement("I5.5.1")
@pytest.mark.parametrize("name", format_names())
def test_another_request_with_the_same_tools_costs_a_fraction_of_the_first(name: str) -> None:
    first, again = min((render_ms(name, 100) for _ in range(3)), key=lambda times: times[1] / times[0])
    assert again < first / 5
