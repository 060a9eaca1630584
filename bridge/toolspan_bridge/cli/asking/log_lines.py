"""A conversation as lines for people: as chat shows it while it goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, cast

from ...conversation import Conversation
from ...conversation.log import Log, Note
from ...conversation.questions import question_places
from ...conversation.tool_names import ToolNames
from ...messages import Assistant, Message, ToolOutcome, ToolResults, User
from ..terminal.of_events.lines import hook_line
from ..terminal.output import compact


def log_lines(log: Log, subagents: Mapping[str, Conversation] | None = None) -> Iterator[str]:
    """One text each: questions with their numbers, answers, calls, results, and what was noted. The
    conversations of ``subagents``, by the names of their files, are below the results of the calls that
    started them, and those without a result last."""
    left = dict(subagents or {})
    yield from _lines(log, left)
    while left:
        name = next(iter(left))
        yield f"a sub-agent whose call has no result ({name}):"
        yield from _indented(Log(log.head, left.pop(name)), left)


def _lines(log: Log, subagents: dict[str, Conversation]) -> Iterator[str]:
    messages = log.conversation.messages
    numbers = {place: number for number, place in enumerate(question_places(messages), 1)}
    notes: defaultdict[int, list[Note]] = defaultdict(list)
    for note in log.notes:
        notes[min(note.place, len(messages))].append(note)
    model, names = log.head.model, ToolNames(log.conversation)
    for place in range(len(messages) + 1):
        for note in notes[place]:
            model = str(note.data.get("model", model)) if note.kind == "model" else model
            yield from _note(note)
        if place == len(messages):
            return
        message = messages[place]
        if isinstance(message, ToolResults):
            for outcome in message.outcomes:
                yield f"← {result_text(outcome.result)}{_by(outcome.approval)}"
                if (started := subagents.pop(_started(outcome), None)) is not None:
                    yield from _indented(Log(replace(log.head, model=model), started), subagents)
        else:
            yield from _said(message, model, numbers.get(place), names)


def _started(outcome: ToolOutcome) -> str:
    """The name of the file with the conversation of the sub-agent that the call started; empty for none."""
    result = outcome.result.get("result")
    path = cast("Mapping[str, Any]", result).get("conversation") if isinstance(result, Mapping) else None
    return PurePath(path).name if isinstance(path, str) else ""


def _indented(log: Log, subagents: dict[str, Conversation]) -> Iterator[str]:
    for text in _lines(log, subagents):
        yield "\n".join(f"    {line}" for line in text.splitlines())


def _note(note: Note) -> Iterator[str]:
    if note.kind == "notice":
        yield f"note: {note.data.get('text', '')}"
    elif note.kind == "hook" and (line := hook_line(note.data)):
        yield line


def _said(message: Message, model: str, number: int | None, names: ToolNames) -> Iterator[str]:
    if isinstance(message, Assistant):
        if message.text:
            yield f"{model}> {message.text}{' (it broke off)' if message.incomplete else ''}"
        for call in message.calls:
            given = call.raw if call.arguments is None else ", ".join(_given(call.arguments))
            yield f"→ {names.of(call.name)}({given})"
    elif isinstance(message, User):
        files = f" (with {len(message.parts)} files)" if message.parts else ""
        yield f"{'' if number is None else f'[{number}] '}you> {message.text}{files}"


def _given(arguments: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key}={compact(value, 80)}" for key, value in arguments.items())


def result_text(result: Mapping[str, Any]) -> str:
    """A tool result object on one line."""
    return compact(result.get("result")) if result.get("success") else f"failed: {result.get('error')}"


def _by(approval: Mapping[str, Any] | None) -> str:
    return "" if approval is None else f"  (approval: {approval.get('decider')})"
