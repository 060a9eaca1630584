"""The events of a question, printed as they happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import IO, Any, Protocol

from toolspan_server.common.gathered_text import GatheredText

from ...approvals import Approver
from ...conversation import Conversation
from ...events import (
    Answer,
    ElicitationAnswer,
    ElicitationRequest,
    End,
    Event,
    HookRan,
    IterationStarted,
    Notice,
    ReasoningDelta,
    SamplingAnswer,
    SamplingRequest,
    SubagentEvent,
    Text,
    TextDelta,
    TextRetracted,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallFinished,
    ToolCallStarted,
    ToolLog,
    ToolProgress,
    UsageReported,
)
from ...loop import Question, run
from ...loop.limits import Spending
from ...messages import Citation, ToolOutcome
from ...providers import Provider
from ...sessions.costs import CostMeter, innermost
from ...toolbox import Toolbox
from .costs import cost_line
from .limit_menu import limit_menu
from .media.received import Received, files_of, result_text
from .of_events.lines import (
    NOT_USED,
    WAS_THOUGHT,
    answered,
    approval_text,
    hook_text,
    meanwhile,
    source_lines,
)
from .of_events.open_calls import OpenCalls
from .of_events.subagents import subagent_line
from .of_events.todos import TODO_WRITE, progress_text, todo_lines
from .output import (
    LineWriter,
    LiveText,
    arguments_text,
    compact,
    emit_text,
    print_note,
)
from .screen.amounts import size
from .unechoed import unechoed
from .waiting.of_events import followed
from .waiting.retries import show_retries


class Shows(Protocol):
    """What is told of the events of a run."""

    def show(self, event: Event) -> None:
        """One event, as it happens."""
        ...

    def close(self) -> None:
        """The run is over, or broke off."""
        ...


class Printer:
    """Prints the events of a run, save the answer itself, on ``file``; nothing when ``quiet``.

    ``only_meanwhile``: only what a call's server says and asks, not the call.
    ``live`` is the terminal on which the text of a streamed answer is shown as it comes: only ever appended,
    and without the characters that would move the cursor or change the screen.
    """

    def __init__(
        self,
        file: IO[str],
        *,
        quiet: bool = False,
        live: IO[str] | None = None,
        only_meanwhile: bool = False,
    ) -> None:
        self._lines = LineWriter(file)
        self._quiet = quiet
        self._live = None if live is None else LiveText(live)
        self._beside = ""
        self._turn = GatheredText()
        self._turn_is_over = False
        self._shown = GatheredText()
        self._thinks = False
        self._only_meanwhile = only_meanwhile
        self._calls = OpenCalls()
        self._questions = 0
        self._held: list[str] = []
        """What comes while a person is asked, to be shown afterwards."""

    def show(self, event: Event) -> None:
        """One event, as it happens."""
        match event:
            case IterationStarted():
                self._turn, self._shown = GatheredText(), GatheredText()
                self._thinks = False
            case ReasoningDelta() | TextRetracted():
                self._show_beside(event)
            case TextDelta() | UsageReported() | Text():
                self._show_text(event)
            case ToolCallStarted(tool=tool, arguments=arguments):
                self._say(self._beside)
                self._beside, call = "", f"{tool}({arguments_text(arguments)})"
                self._calls.start(event.call_id, call)
                self._say_of_call(f"→ {call}")
            case ToolApprovalRequest() | ElicitationRequest() | SamplingRequest():
                self._questions += 1
            case ToolApprovalAnswer() | ElicitationAnswer() | SamplingAnswer():
                self._answered(event)
            case SubagentEvent():
                self._show_subagent(event)
            case ToolProgress() | ToolLog():
                self._say(meanwhile(event))
            case ToolCallFinished():
                self._show_outcome(event)
            case HookRan():
                self._say(hook_text(event))
            case Notice(text=text):
                self._say(f"note: {text}")
            case _:
                pass

    def _show_subagent(self, event: SubagentEvent) -> None:
        inner = innermost(event)
        if isinstance(inner, ToolApprovalRequest | ElicitationRequest | SamplingRequest):
            self._questions += 1
        elif isinstance(inner, ToolApprovalAnswer | ElicitationAnswer | SamplingAnswer):
            self._answered(inner)
        self._say(subagent_line(event))

    def _show_outcome(self, event: ToolCallFinished) -> None:
        result = event.outcome.result
        tasks = todo_lines(result.get("result")) if event.tool.endswith(TODO_WRITE) else []
        if tasks:
            result = {**result, "result": progress_text(result["result"])}
        elif (text := result_text(event.outcome)) is not None:
            result = {**result, "result": _with_files(text, event.outcome)}
        self._say_of_call(f"← {self._calls.finish(event.call_id)}{_result(result)}")
        for line in tasks:
            self._say(line)

    def _show_text(self, event: TextDelta | UsageReported | Text) -> None:
        if isinstance(event, TextDelta):
            self._write(event.text)
        elif isinstance(event, Text):
            self._beside = "" if self._was_shown(event.text) else event.text
        else:
            self._turn_is_over = True

    def answer(self, content: str, citations: Sequence[Citation] = ()) -> None:
        """The answer on stdout, unless it was shown as it came, and a numbered list of its sources."""
        self.close()
        if self._live is None or self._shown.text != content or not content:
            emit_text(content)
        if citations:
            emit_text("\n" + "\n".join(source_lines(citations)))

    def figures(self, answer: Answer, meter: CostMeter, talk: Conversation | None = None) -> None:
        """A note of what the answer cost, where prices may be known."""
        del answer
        if meter.may_be_known and not self._quiet:
            print_note(cost_line(meter.usd, None if talk is None else talk.usd, chat=talk is not None))

    def close(self) -> None:
        """End the line that a streamed text left open."""
        if self._live is not None:
            self._live.close()

    def _show_beside(self, event: ReasoningDelta | TextRetracted) -> None:
        """What says that text is no answer."""
        if isinstance(event, TextRetracted):
            self._retract(NOT_USED)
            return
        if event.was_text:
            self._retract(WAS_THOUGHT)
        self._think()

    def _retract(self, why: str) -> None:
        """Say of the turn's text, which stays on the terminal, that it is no part of the answer."""
        if self._turn and self._live is not None:
            self._say(why)
        self._turn = GatheredText()

    def _think(self) -> None:
        if self._live is not None and not self._thinks:
            self._thinks = True
            self._say("thinking …")

    def _write(self, text: str) -> None:
        self._turn = GatheredText() if self._turn_is_over else self._turn
        self._turn.add(text)
        self._turn_is_over = False
        if self._live is not None:
            self._live.write(text)

    def _was_shown(self, text: str) -> bool:
        """Whether the turn's text was shown as it came; ``_shown`` is that of all since the last call."""
        came, self._turn = self._turn.text, GatheredText()
        self._shown.add(came)
        return self._live is not None and came == text

    def _answered(self, event: ToolApprovalAnswer | ElicitationAnswer | SamplingAnswer) -> None:
        self._questions -= 1
        if isinstance(event, ToolApprovalAnswer):
            self._say_of_call(approval_text(event.tool, event.approval))
        else:
            self._say(answered(event))
        if not self._questions:
            held, self._held = self._held, []
            for line in held:
                self._say(line)

    def _say_of_call(self, line: str) -> None:
        if not self._only_meanwhile:
            self._say(line)

    def _say(self, line: str) -> None:
        if self._questions:
            self._held.append(line)
        elif line and not self._quiet:
            self.close()
            self._lines.write(line)


async def talk(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    printer: Shows,
    conversation: Conversation | None = None,
    meter: CostMeter | None = None,
    approver: Approver | None = None,
    spending: Spending | None = None,
) -> Answer:
    """Answer ``question``, print what happens on the way, and have ``meter`` add up what it costs;
    ``spending`` is what the requests of ``provider`` are paid from already. At a limit
    the person at the terminal is asked, if there is one."""
    show_retries()
    try:
        pricing = None if meter is None else meter.pricing
        events = run(
            question,
            provider,
            toolbox,
            conversation,
            approver=approver,
            pricing=pricing,
            at_limit=limit_menu(printer.close),
            spending=spending,
        )
        shown = followed(printer.show, f"{provider.name}/{question.model}")
        with shown as show:
            async with aclosing(events), unechoed():
                async for event in events:
                    show(event)
                    if meter is not None:
                        meter.take(event)
                    if isinstance(event, End):
                        return event.answer
    finally:
        printer.close()
    raise AssertionError("a run ends with End")


def _with_files(text: str, outcome: ToolOutcome) -> str:
    """``text``, and what files came with it."""
    found = files_of(outcome)
    named = (f"{each.name}, {size(len(each.data))}" if isinstance(each, Received) else each for each in found)
    return " ".join(filter(None, (text, *(f"[{each}]" for each in named))))


def _result(result: Mapping[str, Any]) -> str:
    shown = compact(result["result"]) if result["success"] else f"failed: {result['error']}"
    return f"{shown}  ({result['execution_time_ms']:.1f} ms)"
