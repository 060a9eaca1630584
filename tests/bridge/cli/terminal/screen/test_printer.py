"""What stands around an answer on a terminal: thoughts, calls and figures, in short and whole."""

from __future__ import annotations

import io
import re

import pytest

from toolspan_bridge.cli.terminal.screen.folded import Folded
from toolspan_bridge.cli.terminal.screen.printer import ScreenPrinter
from toolspan_bridge.cli.terminal.talk import Printer
from toolspan_bridge.conversation import Conversation
from toolspan_bridge.events import (
    Answer,
    Event,
    Notice,
    ReasoningDelta,
    Text,
    TextDelta,
    TextRetracted,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from toolspan_bridge.messages import ToolOutcome, Usage
from toolspan_bridge.providers.prices import Pricing, price_of
from toolspan_bridge.sessions.costs import CostMeter

pytestmark = pytest.mark.requirement("I13.4.47")

LONG = "\n".join(f"line {number}" for number in range(1, 7))
RESULT = {"success": True, "result": LONG, "tool_name": "report", "execution_time_ms": 2.0}
EVENTS: list[Event] = [
    ReasoningDelta("First the\n"),
    ReasoningDelta("report."),
    ToolCallStarted("1", "toolspan", "report", {}, 1),
    ToolCallFinished("1", "toolspan", "report", ToolOutcome("1", "report", RESULT), 1),
    TextDelta("It is **there**."),
    Text("It is **there**.", 2),
]
RETRACTED = TextRetracted(1)
ERASED = re.compile(r"[^\n]*\r\x1b\[J")
TIMES = re.compile(r"\d+(?:\.\d+)? (ms|s)\b")


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "130")


def shown(folded: Folded, events: list[Event] = EVENTS) -> list[str]:
    file = io.StringIO()
    printer = ScreenPrinter(file, folded)
    for event in events:
        printer.show(event)
    printer.answer("It is **there**.")
    return TIMES.sub(r"# \1", ERASED.sub("", file.getvalue())).splitlines()


def figures(model: Pricing, usage: Usage, *, of_talk: float | None = None) -> str:
    file, meter, talk = io.StringIO(), CostMeter(model), None
    printer = ScreenPrinter(file, Folded())
    printer.show(UsageReported(usage, 1))
    meter.add(usage)
    if of_talk is not None:
        talk = Conversation()
        talk.spend(of_talk)
    printer.figures(Answer("Yes", model.name, model.provider, (), usage, 1), meter, talk)
    return file.getvalue()


def test_thoughts_and_long_results_are_folded_and_kept_under_their_numbers() -> None:
    folded = Folded()
    assert shown(folded) == [
        "thought for # ms, 3 words · /show 1",
        "→ report()",
        "← 6 lines  # ms · 41 B · /show 2",
        "  line 1",
        "  line 2",
        "  line 3",
        "  … 3 more lines",
        "",
        "It is there.",
    ]
    thoughts, result = folded.get(1), folded.get(2)
    assert thoughts is not None and thoughts.text == "First the\nreport."
    assert result is not None and LONG in result.text


@pytest.mark.requirement("I25.1.3")
def test_thoughts_that_came_as_text_are_said_to_be_no_answer() -> None:
    folded = Folded()
    thought: list[Event] = [TextDelta("Hm, which?\n"), ReasoningDelta("Hm, which?", was_text=True)]
    assert shown(folded, [*thought, *EVENTS[-2:]]) == [
        "Hm, which?",
        "(the text above is what the model thought, and no part of its answer)",
        "thought for # ms, 2 words · /show 1",
        "It is there.",
    ]
    file = io.StringIO()
    printer = Printer(file, live=file)
    for event in (*thought, *EVENTS[-2:]):
        printer.show(event)
    printer.close()
    assert file.getvalue().splitlines() == [
        "Hm, which?",
        "(the text above is what the model thought, and no part of its answer)",
        "thinking …",
        "It is **there**.",
    ]


@pytest.mark.requirement("I25.2.1")
def test_the_text_of_a_turn_that_is_asked_for_again_is_said_to_be_no_answer() -> None:
    turn: list[Event] = [TextDelta("I look.\n"), UsageReported(Usage(), 1), Notice("Asked again."), RETRACTED]
    left = ["I look.", "note: Asked again.", "(the text above is no part of the answer)"]
    assert shown(Folded(), [*turn, *EVENTS[-2:]]) == [*left, "It is there."]
    assert shown(Folded(), [*turn[1:], *EVENTS[-2:]]) == ["note: Asked again.", "It is there."]
    file = io.StringIO()
    printer = Printer(file, live=file)
    for event in turn:
        printer.show(event)
    printer.close()
    assert file.getvalue().splitlines() == left


def test_verbose_shows_thoughts_and_results_whole_at_once() -> None:
    folded = Folded(whole=True)
    assert shown(folded) == [
        "thought for # ms, 3 words",
        "First the",
        "report.",
        "→ report()",
        "← 6 lines  # ms · 41 B",
        *(f"  line {number}" for number in range(1, 7)),
        "",
        "It is there.",
    ]
    assert folded.numbers == []


def test_the_figures_have_cost_and_context_of_a_model_whose_price_and_window_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    price = price_of("openai", "gpt-4o")
    assert price.context == 128_000 and price.input == 2.5 and price.output == 10
    usage = Usage(input_tokens=12_000, output_tokens=800, reasoning_tokens=300)
    line = (
        "openai/gpt-4o · 12,000 in, 800 out, 300 of them thought · cost $0.0380 (conversation $0.1380)"
        " · context 10 % of 128,000\n"
    )
    assert figures(Pricing("openai", "gpt-4o"), usage, of_talk=0.138) == line
    monkeypatch.setenv("COLUMNS", "60")
    assert figures(Pricing("openai", "gpt-4o"), usage, of_talk=0.138) == line[:58] + "…\n"


def test_the_figures_of_a_model_of_the_configs_own_leave_out_cost_and_context() -> None:
    own = Pricing("openai", "gpt-4o", own=True)
    assert figures(own, Usage(12_000, 800)) == "openai/gpt-4o · 12,000 in, 800 out\n"
