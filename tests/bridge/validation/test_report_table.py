"""The report's table: what it has to say, at any width."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.support.trials import a_trial
from toolspan_bridge.validation import Fingerprint, Trial, records_of
from toolspan_bridge.validation.reports import FORMS, Contents, contents_of
from toolspan_bridge.validation.reports.table import lines

pytestmark = pytest.mark.requirement("I14.5.15")

MARK = Fingerprint(model="m", suite="s1", toolspan="1.0")


def form(name: str, given: Contents) -> str:
    """The report of that form as one text."""
    return "".join(FORMS[name](given))


def contents(*trials: Trial) -> Contents:
    return contents_of(records_of(replace(each, fingerprint=MARK) for each in trials))


PLAIN = a_trial("soup", model_id="provider/a-model")
DOWN = replace(PLAIN, success=False, is_error=True, error="HTTP 503: overloaded")
PAID = replace(PLAIN, details={"cost": {"usd": 0.25}, "rescued": 2})


@pytest.mark.parametrize(
    ("trials", "heads"),
    [
        ([PLAIN], ["model", "suite", "successes", "last tested (UTC)", "badge"]),
        ([PLAIN, DOWN], ["model", "suite", "successes", "errors", "last tested (UTC)", "badge"]),
        ([PAID], ["model", "suite", "successes", "rescued", "cost", "last tested (UTC)", "badge"]),
    ],
    ids=["plain", "errors", "paid"],
)
def test_a_column_is_there_when_a_record_has_something_to_say(trials: list[Trial], heads: list[str]) -> None:
    first = lines(contents(*trials))[0]
    assert [head.strip() for head in first.split("  ") if head.strip()] == heads


def test_errors_are_told_with_their_reason() -> None:
    told = lines(contents(PLAIN, DOWN, DOWN))
    assert "1 of 1" in told[1] and "  2  " in told[1]
    assert told[-1] == "provider/a-model, default: error, 2 ×: HTTP 503: overloaded"


@pytest.mark.parametrize("width", [50, 60, 90])
def test_a_narrow_terminal_has_lines_for_each_record_and_loses_nothing(width: int) -> None:
    wide = contents(PLAIN, DOWN, PAID, replace(PLAIN, model_id="another/model"))
    found = lines(wide, width)
    records = [line for line in found if ": error" not in line]
    assert all(cell_len(line) <= width for line in records), records
    text = " ".join(line.strip() for line in records)
    for words in (
        "provider/a-model",
        "another/model",
        "2 of 2",
        "errors 1",
        "2026-11-21 10:00",
        "n=1, 100 %",
    ):
        assert words in text, words
    assert len(lines(wide)) == 4


def test_a_file_has_every_record_on_one_line_whatever_it_is_called() -> None:
    evil = contents(replace(PLAIN, model_id="a\n\x1b[2J" + "x" * 300))
    head, row = form("table", evil).splitlines()
    assert head.startswith("model") and "\\x1b[2J" in row and "x" * 300 in row
