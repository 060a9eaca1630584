"""The events of a question, printed as they happen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import IO, Any

from ...approvals import Approval, Approver
from ...conversation import Conversation
from ...events import (
    Answer,
    End,
    Event,
    IterationStarted,
    Notice,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolApprovalAnswer,
    ToolApprovalRequest,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from ...loop import Question, run
from ...messages import Citation
from ...providers import Provider
from ...toolbox import Toolbox
from .costs import CostMeter
from .output import (
    LineWriter,
    LiveText,
    compact,
    emit_text,
)


class Printer:
    """Prints the events of a run, save the answer itself, on ``file``; nothing when ``quiet``.

    ``live`` is the terminal on which the text of a streamed answer is shown as it comes: only ever appended,
    and without the characters that would move the cursor or change the screen.
    """

    def __init__(self, file: IO[str], *, quiet: bool = False, live: IO[str] | None = None) -> None:
        self._lines = LineWriter(file)
        self._quiet = quiet
        self._live = None if live is None else LiveText(live)
        self._beside = ""
        self._turn = ""
        self._turn_is_over = False
        self._shown = ""
        self._thinks = False
        self._held: list[str] | None = None
        """What comes while a person is asked, to be shown afterwards."""

    def show(self, event: Event) -> None:
        """One event, as it happens."""
        match event:
            case IterationStarted():
                self._turn = self._shown = ""
                self._thinks = False
            case ReasoningDelta():
                self._think()
            case TextDelta(text=text):
                self._write(text)
            case UsageReported():
                self._turn_is_over = True
            case Text(text=text):
                self._beside = "" if self._was_shown(text) else text
            case ToolCallStarted(tool=tool, arguments=arguments):
                self._say(self._beside)
                self._beside = ""
                self._say(f"→ {tool}({_arguments(arguments)})")
            case ToolApprovalRequest():
                self._held = []
            case ToolApprovalAnswer(tool=tool, approval=approval):
                held, self._held = self._held, None
                self._say(_decision(tool, approval))
                for line in held or ():
                    self._say(line)
            case ToolCallFinished(outcome=outcome):
                self._say(f"← {_result(outcome.result)}")
            case Notice(text=text):
                self._say(f"note: {text}")
            case _:
                pass

    def answer(self, content: str, citations: Sequence[Citation] = ()) -> None:
        """The answer on stdout, unless it was shown as it came, and a numbered list of its sources."""
        self.close()
        if self._live is None or self._shown != content or not content:
            emit_text(content)
        if citations:
            emit_text("\n" + "\n".join(_sources(citations)))

    def close(self) -> None:
        """End the line that a streamed text left open."""
        if self._live is not None:
            self._live.close()

    def _think(self) -> None:
        if self._live is not None and not self._thinks:
            self._thinks = True
            self._say("thinking …")

    def _write(self, text: str) -> None:
        self._turn = text if self._turn_is_over else self._turn + text
        self._turn_is_over = False
        if self._live is not None:
            self._live.write(text)

    def _was_shown(self, text: str) -> bool:
        """Whether the turn's text was shown as it came; ``_shown`` is that of all since the last call."""
        came, self._turn = self._turn, ""
        self._shown += came
        return self._live is not None and came == text

    def _say(self, line: str) -> None:
        if self._held is not None:
            self._held.append(line)
        elif line and not self._quiet:
            self.close()
            self._lines.write(line)


async def talk(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    printer: Printer,
    conversation: Conversation | None = None,
    meter: CostMeter | None = None,
    approver: Approver | None = None,
) -> Answer:
    """Answer ``question``, print what happens on the way, and have ``meter`` add up what it costs."""
    try:
        async with aclosing(run(question, provider, toolbox, conversation, approver=approver)) as events:
            async for event in events:
                printer.show(event)
                if meter is not None and isinstance(event, UsageReported):
                    meter.add(event.usage)
                if isinstance(event, End):
                    return event.answer
    finally:
        printer.close()
    raise AssertionError("a run ends with End")


def _decision(tool: str, approval: Approval) -> str:
    """What was decided about a call where the person does not know it: by others, or for later calls."""
    if approval.decider == "person" and approval.arguments is None:
        return ""
    if approval.arguments is not None:
        return f"→ {tool}({_arguments(approval.arguments)}), as changed"
    by = {"earlier": "an earlier answer", "flag": "--approve", "rule": "a rule", "policy": "the policy"}
    return f"  allowed by {by.get(approval.decider, approval.decider)}" if approval.allowed else ""


def _sources(citations: Iterable[Citation]) -> list[str]:
    """``[1] title url``, each source once, in the order of the text."""
    titles: dict[str, str] = {}
    for source in citations:
        titles[source.url] = titles.get(source.url) or source.title
    named = (f"{title} {url}" if title and url else title or url for url, title in titles.items())
    return [f"[{number}] {' '.join(name.split())}" for number, name in enumerate(named, start=1)]


def _arguments(arguments: Mapping[str, Any] | None) -> str:
    if arguments is None:
        return "arguments that are no JSON object"
    return ", ".join(f"{key}={compact(value, 80)}" for key, value in arguments.items())


def _result(result: Mapping[str, Any]) -> str:
    shown = compact(result["result"]) if result["success"] else f"failed: {result['error']}"
    return f"{shown}  ({result['execution_time_ms']:.1f} ms)"
