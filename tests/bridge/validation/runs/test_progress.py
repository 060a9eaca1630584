"""A run's progress: a table on a terminal, lines elsewhere, always within the width that there is."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console  # noqa: TID251 - what is drawn on

from tests.support.trials import a_trial
from toolspan_bridge.validation import RunBegan, Suite, TrialFinished, TrialStarted
from toolspan_bridge.validation.runs.plan import Plan
from toolspan_bridge.validation.runs.progress.lines import Lines
from toolspan_bridge.validation.runs.progress.live import live
from toolspan_bridge.validation.runs.progress.tally import Tally

pytestmark = pytest.mark.requirement("I14.2.11")

SUITE = Suite.model_validate(
    {
        "name": "default",
        "scenarios": [{"name": f"q{n}", "query": "?", "expect": {"no_calls": True}} for n in range(10)],
    }
)


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now


def begun(*models: str, time: Time | None = None, trials: int = 1) -> Tally:
    """A tally of a run that has just begun."""
    tally = Tally((time or Time()).clock)
    tally.begin(RunBegan(Plan(models, (SUITE,), trials), (), ()))
    return tally


def end(tally: Tally, count: int, model: str = "a/x", **trial: Any) -> None:
    for number in range(count):
        tally.add(TrialStarted(model, "q", number, 10))
        tally.add(TrialFinished(a_trial(model_id=model, **trial), number, 10))


def drawn(tally: Tally, width: int, height: int = 30) -> list[str]:
    """What is on the screen while the run is made."""
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=True, color_system=None)
    with live(console, tally):
        pass
    return out.getvalue().splitlines()


def test_the_table_has_a_row_for_each_model_that_fills() -> None:
    time = Time()
    tally = begun("a/x", "b/y", time=time)
    end(tally, 4)
    end(tally, 1, success=False)
    tally.add(TrialStarted("b/y", "weather in Paris", 3, 20))
    time.now = 30.0

    text = "\n".join(drawn(tally, 120))

    (row,) = [line for line in text.splitlines() if "a/x" in line]
    assert ("████████░░░░░░░░" in row, "5/10" in row, "80 %" in row) == (True, True, True)
    assert "0/10" in text
    assert "5 of 20 trials, about 1 min 30 s left; b/y: weather in Paris" in text


@pytest.mark.parametrize("width", [20, 40, 63, 64, 100])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    tally = begun("openrouter/a-very-long-name-of-a-model-that-nobody-can-remember", "b/y")
    tally.add(TrialStarted("b/y", "a scenario with a long name " * 10, 3, 20))
    lines = drawn(tally, width)
    shown = [line.replace("\x1b[?25l", "").replace("\x1b[?25h", "") for line in lines]
    assert all(len(line.split("\x1b")[0]) <= width for line in shown), shown


def test_of_more_rows_than_lines_those_at_work_are_shown() -> None:
    tally = begun(*(f"a/m{n}" for n in range(50)))
    for n in range(30):
        end(tally, 10, model=f"a/m{n}")
    text = "\n".join(drawn(tally, 100, height=20))
    assert ("a/m30" in text, "a/m29" in text, "more rows" in text) == (True, False, True)


def test_a_models_name_cannot_steer_the_terminal() -> None:
    tally = begun("a/\x1b[2Jx")
    tally.add(TrialStarted("a/\x1b[2Jx", "\x1b]0;owned\x07", 1, 1))
    text = "\n".join(drawn(tally, 100))
    assert "\x1b[2J" not in text
    assert "\x07" not in text


def test_elsewhere_there_is_a_line_now_and_then() -> None:
    time, out = Time(), io.StringIO()
    tally = begun("a/x", time=time, trials=100)
    lines = Lines(out, tally, time.clock)
    for second in range(200):
        time.now = float(second)
        end(tally, 1)
        lines.changed()
    written = out.getvalue().splitlines()
    assert written[0] == "toolspan: 11 of 1,000 trials, about 15 min left"
    assert len(written) == 8, "every 10 s in the first minute, then every minute"


def test_trials_that_were_made_earlier_count_as_done_and_not_into_the_pace() -> None:
    time = Time()
    tally = Tally(time.clock)
    earlier = tuple(a_trial(model_id="a/x") for _ in range(6))
    tally.begin(RunBegan(Plan(("a/x",), (SUITE,), 1), earlier, ()))
    assert (tally.done, tally.seconds_left) == (6, None)
    end(tally, 1)
    time.now = 10.0
    assert tally.seconds_left == 30.0
