"""A question answered before a person's eyes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import IO, Any

from ..events import Answer, End, Event, Notice, Text, ToolCallFinished, ToolCallStarted
from ..loop import Question, run
from ..messages import Message
from ..providers import Provider
from ..toolbox import Toolbox
from ._output import compact


class Printer:
    """Tells the events of a run, save the answer itself, on ``file``; nothing when ``quiet``."""

    def __init__(self, file: IO[str], *, quiet: bool = False) -> None:
        self._file = file
        self._quiet = quiet
        self._beside = ""

    def tell(self, event: Event) -> None:
        """One event, as it happens."""
        match event:
            case Text(text=text):
                self._beside = text
            case ToolCallStarted(tool=tool, arguments=arguments):
                self._say(self._beside)
                self._beside = ""
                self._say(f"→ {tool}({_arguments(arguments)})")
            case ToolCallFinished(outcome=outcome):
                self._say(f"← {_result(outcome.result)}")
            case Notice(text=text):
                self._say(f"note: {text}")
            case _:
                pass

    def _say(self, line: str) -> None:
        if line and not self._quiet:
            self._file.write(line + "\n")
            self._file.flush()


async def talk(
    question: Question,
    provider: Provider,
    toolbox: Toolbox,
    printer: Printer,
    transcript: list[Message] | None = None,
) -> Answer:
    """Answer ``question``, telling ``printer`` what happens on the way."""
    async with aclosing(run(question, provider, toolbox, transcript)) as events:
        async for event in events:
            printer.tell(event)
            if isinstance(event, End):
                return event.answer
    raise AssertionError("a run ends with End")


def _arguments(arguments: Mapping[str, Any] | None) -> str:
    if arguments is None:
        return "arguments that are no JSON object"
    return ", ".join(f"{key}={compact(value, 80)}" for key, value in arguments.items())


def _result(result: Mapping[str, Any]) -> str:
    shown = compact(result["result"]) if result["success"] else f"failed: {result['error']}"
    return f"{shown}  ({result['execution_time_ms']:.1f} ms)"
