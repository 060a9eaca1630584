"""A run's report: as JSON, as a table for people, and a progress bar where there is a terminal."""

from __future__ import annotations

import io
import json
import os
import select
import sys
from pathlib import Path

import pytest

from tests.support.trials import a_trial
from toolspan_bridge.errors import AuthError
from toolspan_bridge.validation import (
    UNTESTED,
    ModelReport,
    Totals,
    TrialFinished,
    TrialStarted,
    ValidationReport,
    print_report,
    progress,
)

pytestmark = pytest.mark.requirement("I2.7.1")


def _report(*models: ModelReport, notices: tuple[str, ...] = ()) -> ValidationReport:
    return ValidationReport("default", 0.8, models, notices)


GOOD = ModelReport("offline/keyword", (a_trial("weather"), a_trial("tip")), Totals(10, 8))
BAD = ModelReport(
    "ollama/tiny",
    (a_trial("weather", success=False), a_trial("weather", success=False), a_trial("tip")),
    Totals(3, 1),
)


def _printed(report: ValidationReport, records: Path | None = None) -> str:
    out = io.StringIO()
    print_report(report, out, records)
    return out.getvalue()


def _lines(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if word in line]


def test_the_table_shows_scenarios_trials_rates_and_the_badge() -> None:
    text = _printed(_report(GOOD, BAD))

    assert "offline/keyword, suite default" in text
    assert "🔧⚠️ provisional (n=10, 80 %, 49–95 %)" in text
    assert "🔧⚠️ failed (n=3, 33 %, 6–80 %)" in text
    good, bad = _lines(text, "weather")[:2]
    assert ("✓" in good, "1/1" in good, "100 %" in good) == (True, True, True)
    assert ("✗✗" in bad, "0/2" in bad, "0 %" in bad) == (True, True, True)
    assert "2/2" in _lines(text, "passed (80 %)")[0]
    assert "33.3 %" in _lines(text, "below the threshold (80 %)")[0]


def test_the_reasons_of_failures_are_listed_once_with_their_count() -> None:
    text = _printed(_report(BAD))
    (line,) = _lines(text, "was not called")
    assert line == "  ✗ weather: get_weather was not called (no tool was) (2 times)"


def test_a_rate_just_below_the_threshold_does_not_look_like_it() -> None:
    trials = tuple(a_trial("q", success=number < 7_999) for number in range(10_000))
    assert "79.9 %" in _printed(_report(ModelReport("a/x", trials, Totals(10_000, 7_999))))


def test_a_model_that_could_not_be_tried_is_named_with_the_reason() -> None:
    report = _report(ModelReport("openai/gpt-4o", (), Totals(0, 0), AuthError("no key: set OPENAI_API_KEY")))
    assert _printed(report) == ("  ✗ openai/gpt-4o was not tried to the end: no key: set OPENAI_API_KEY\n")


def test_notices_and_the_exported_file_are_named_on_one_line_each(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100) / "validation.json"
    text = _printed(_report(GOOD, notices=("the validation store was damaged " + "x" * 100,)), long)
    assert _lines(text, "note: ") == ["note: the validation store was damaged " + "x" * 100]
    assert _lines(text, "records: ") == [f"records: {long}"]


def test_text_of_models_cannot_steer_the_terminal_or_the_table() -> None:
    nasty = "\x1b[2J[red]x[/red]\x07\r"
    model = ModelReport(nasty, (a_trial(nasty, success=False, error=nasty),), Totals(1, 0))
    text = _printed(_report(model))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "[red]x[/red]" in text


def test_the_report_as_json_has_exactly_the_documented_shape() -> None:
    records = Path(".toolspan/validation.json")
    ended = ModelReport("openai/gpt-4o", (), Totals(0, 0), AuthError("no key"))
    reported = json.loads(json.dumps(_report(BAD, ended, notices=("note",)).as_dict(records)))
    assert reported == {
        "suite": "default",
        "threshold": 0.8,
        "passed": False,
        "ended": None,
        "missing": 0,
        "models": [
            {
                "model_id": "ollama/tiny",
                "suite": "default",
                "passed": False,
                "test_count": 3,
                "success_count": 1,
                "error_count": 0,
                "missing": 0,
                "rate": 0.3333,
                "weighted_rate": None,
                "validated": False,
                "badge": {
                    "status": "failed",
                    "text": "failed (n=3, 33 %, 6–80 %)",
                    "signed": "🔧⚠️ failed (n=3, 33 %, 6–80 %)",
                    "n": 3,
                    "successes": 1,
                    "errors": 0,
                    "rate": 0.333333,
                    "interval": [0.061492, 0.79234],
                    "changed": [],
                },
                "all_runs": {"test_count": 3, "success_count": 1},
                "cost": {"usd": None},
                "rescued": 0,
                "error": None,
                "scenarios": [
                    {
                        "scenario": "weather",
                        "test_count": 2,
                        "success_count": 0,
                        "error_count": 0,
                        "cost": {"usd": None},
                        "rescued": 0,
                        "errors": ["get_weather was not called (no tool was)"] * 2,
                    },
                    {
                        "scenario": "tip",
                        "test_count": 1,
                        "success_count": 1,
                        "error_count": 0,
                        "cost": {"usd": None},
                        "rescued": 0,
                        "errors": [],
                    },
                ],
            },
            {
                "model_id": "openai/gpt-4o",
                "suite": "default",
                "passed": False,
                "test_count": 0,
                "success_count": 0,
                "error_count": 0,
                "missing": 0,
                "rate": 0.0,
                "weighted_rate": None,
                "validated": False,
                "badge": UNTESTED.as_dict(),
                "all_runs": {"test_count": 0, "success_count": 0},
                "cost": {"usd": None},
                "rescued": 0,
                "error": {"code": "auth", "message": "no key"},
                "scenarios": [],
            },
        ],
        "notices": ["note"],
        "records": str(records),
    }


def _run_a_trial(file: io.TextIOBase) -> None:
    with progress(file) as on_event:  # type: ignore[arg-type] # any text file will do
        on_event(TrialStarted("offline/keyword", "weather in Paris", 1, 4))
        on_event(TrialFinished(a_trial(), 1, 4))
        on_event(TrialStarted("offline/keyword", "\x1b[2Jtip", 2, 4))


def test_off_a_terminal_there_is_no_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = io.StringIO()
    _run_a_trial(out)
    assert out.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")
def test_on_a_terminal_a_progress_bar_names_the_trial_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    master, slave = os.openpty()
    shown = ""
    with os.fdopen(slave, "w", encoding="utf-8") as terminal:
        _run_a_trial(terminal)
        while "tip" not in shown and select.select([master], [], [], 10)[0]:
            shown += os.read(master, 65_536).decode()
    os.close(master)
    assert "1 of 4 trials" in shown
    assert "tip" in shown
    assert "\x1b[2J" not in shown
