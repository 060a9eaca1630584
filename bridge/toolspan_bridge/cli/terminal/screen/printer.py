"""The events of a question, shown on a terminal as they happen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from toolspan_server.common.gathered_text import GatheredText

from ....conversation import Conversation
from ....events import (
    Answer,
    ElicitationAnswer,
    ElicitationRequest,
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
from ....messages import Citation, Usage
from ....sessions.costs import CostMeter, innermost
from ..media.received import Received, files_of, images_in, result_text
from ..media.view import Keep, show_files
from ..of_events.lines import (
    NOT_USED,
    WAS_THOUGHT,
    answered,
    approval_text,
    hook_text,
    meanwhile,
    source_lines,
)
from ..of_events.subagents import subagent_line
from ..of_events.todos import TODO_WRITE, progress_text, todo_lines
from .calls import Call, show_call, show_result
from .figures import figures
from .folded import Folded
from .progress import show_progress
from .streaming import MarkdownStream
from .terminal import StyledTerminal
from .thoughts import Thoughts

__all__ = ["ScreenPrinter"]

_Question = ToolApprovalRequest | ElicitationRequest | SamplingRequest
_Reply = ToolApprovalAnswer | ElicitationAnswer | SamplingAnswer


class ScreenPrinter:
    """Shows the events of a run, and its answer as Markdown, on the terminal ``file``. What is shown in short
    is kept in ``folded``, and files that cannot be shown by ``keep``."""

    def __init__(self, file: IO[str], folded: Folded, keep: Keep | None = None) -> None:
        self._terminal = StyledTerminal(file)
        self._folded = folded
        self._keep = keep
        self._markdown = MarkdownStream(self._terminal)
        self._thoughts = Thoughts(self._terminal, folded)
        self._calls: dict[str, Call] = {}
        self._under = ""
        """The call whose line is the last one."""
        self._gap = False
        """Whether the last lines are about calls, so that a text begins after an empty one."""
        self._turn, self._shown = GatheredText(), GatheredText()
        self._beside = ""
        self._turn_is_over = False
        self._usage = Usage()
        self._questions = 0
        self._held: list[Event] = []
        """What comes while a person is asked, to be shown afterwards."""

    def show(self, event: Event) -> None:
        """One event, as it happens."""
        inner = innermost(event) if isinstance(event, SubagentEvent) else event
        if isinstance(inner, _Reply):
            self._questions -= 1
        elif isinstance(inner, _Question):
            self._pause()
            self._questions += 1
        if self._questions:
            self._held.append(event)
            return
        held, self._held = self._held, []
        for each in (*held, event):
            self._show(each)

    def answer(self, content: str, citations: Sequence[Citation] = ()) -> None:
        """The answer, unless it was shown as it came, and a numbered list of its sources."""
        self.close()
        if self._shown.text != content or not content:
            self._show_text(content)
            self.close()
        show_files(self._terminal, images_in(content), "answer", self._keep)
        if citations:
            self._terminal.line()
            for line in source_lines(citations):
                self._terminal.line((line, "dim"))

    def figures(self, answer: Answer, meter: CostMeter, talk: Conversation | None = None) -> None:
        """A line of what the answer took: its model, tokens, cost, and how full the model's context is."""
        if line := figures(answer, self._usage, meter, talk):
            self._terminal.short_line((line, "dim"))

    def close(self) -> None:
        """End the line that a streamed text left open."""
        self._thoughts.end()
        self._markdown.close()
        self._terminal.erase()

    def _pause(self) -> None:
        self.close()
        self._under = ""

    def _show(self, event: Event) -> None:
        match event:
            case IterationStarted():
                self._turn, self._shown = GatheredText(), GatheredText()
            case ReasoningDelta(text=text, was_text=was_text):
                if was_text:
                    self._retract(WAS_THOUGHT)
                self._thoughts.add(text)
            case TextRetracted():
                self._retract(NOT_USED)
            case TextDelta(text=text):
                self._write(text)
            case Text(text=text):
                self._beside = "" if self._was_shown(text) else text
            case UsageReported(usage=usage):
                self._turn_is_over, self._usage = True, usage
            case ToolCallStarted() | ToolCallFinished() | ToolApprovalAnswer():
                self._show_of_call(event)
            case ToolProgress():
                self.close()
                show_progress(self._terminal, event)
            case _:
                self._say(_line(event))

    def _write(self, text: str) -> None:
        self._thoughts.end()
        self._turn = GatheredText() if self._turn_is_over else self._turn
        self._turn.add(text)
        self._turn_is_over = False
        self._show_text(text)

    def _retract(self, why: str) -> None:
        """Say of the turn's text, which stays on the terminal, that it is no part of the answer."""
        if self._turn:
            self._say(why)
        self._turn = GatheredText()

    def _show_text(self, text: str) -> None:
        if self._gap and text:
            self._gap = False
            self._terminal.line()
        self._markdown.write(text)

    def _was_shown(self, text: str) -> bool:
        """Whether the turn's text was shown as it came; ``_shown`` is that of all since the last call."""
        came, self._turn = self._turn.text, GatheredText()
        self._shown.add(came)
        return came == text

    def _show_of_call(self, event: ToolCallStarted | ToolCallFinished | ToolApprovalAnswer) -> None:
        if isinstance(event, ToolApprovalAnswer):
            self._show_approval(event)
        elif isinstance(event, ToolCallStarted):
            self._show_text(self._beside)
            self._beside = ""
            self.close()
            call = self._calls[event.call_id] = Call(event.tool, event.arguments)
            show_call(self._terminal, call)
            self._under = event.call_id
        else:
            self._show_outcome(event)

    def _show_approval(self, event: ToolApprovalAnswer) -> None:
        changed = event.approval.arguments
        if changed is not None:
            call = self._calls[event.call_id] = Call(event.tool, changed)
            self.close()
            show_call(self._terminal, call, ", as changed")
            self._under = event.call_id
        else:
            self._say(approval_text(event.tool, event.approval))

    def _show_outcome(self, event: ToolCallFinished) -> None:
        self.close()
        outcome, result = event.outcome, event.outcome.result
        tasks = todo_lines(result.get("result")) if event.tool.endswith(TODO_WRITE) else []
        files = files_of(outcome)
        if tasks:
            result = {**result, "result": progress_text(result["result"])}
        elif (text := result_text(outcome)) is not None:
            result = {**result, "result": text or f"{len(files)} file{'' if len(files) == 1 else 's'}"}
        call = self._calls.pop(event.call_id, Call(event.tool, {}))
        is_under = self._under == event.call_id
        total = sum(len(file.data) for file in files if isinstance(file, Received))
        show_result(self._terminal, call, result, self._folded, is_under_call=is_under, further=total)
        self._under, self._gap = "", True
        for line in tasks:
            self._terminal.line((line, ""))
        show_files(self._terminal, files, event.tool, self._keep)

    def _say(self, line: str) -> None:
        if line:
            self.close()
            self._terminal.line((line, "dim"))
            self._under = ""


def _line(event: Event) -> str:
    """The line of an event that has just one; empty for what is not shown."""
    match event:
        case SubagentEvent():
            return subagent_line(event)
        case ToolLog():
            return meanwhile(event)
        case ElicitationAnswer() | SamplingAnswer():
            return answered(event)
        case HookRan():
            return hook_text(event)
        case Notice(text=text):
            return f"note: {text}"
        case _:
            return ""
