"""Markdown for people: who said what, the calls and what came of them.

What was said is quoted, so that no heading in it looks like one of ours; characters that would control a
terminal are made visible.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from toolspan_server.common.visible import visible, visible_line

from ...messages import (
    Assistant,
    Message,
    Part,
    ToolCall,
    ToolOutcome,
    ToolResults,
    User,
)
from ...providers.prices import usd_text
from ..log import Log, Note
from ..tool_names import ToolNames

__all__ = ["markdown"]

_SHOWN = 4_000


def markdown(log: Log) -> str:
    """The conversation as Markdown."""
    blocks = [f"# {_inline(log.head.title) or 'Conversation'}", _facts(log), *_blocks(log)]
    return "\n\n".join(blocks) + "\n"


def _blocks(log: Log) -> Iterator[str]:
    messages = log.conversation.messages
    notes: defaultdict[int, list[Note]] = defaultdict(list)
    for note in log.notes:
        notes[min(note.place, len(messages))].append(note)
    model, names = log.head.model, ToolNames(log.conversation)
    for place in range(len(messages) + 1):
        for note in notes[place]:
            model = str(note.data.get("model", model)) if note.kind == "model" else model
            yield from _note(note)
        yield from _message(messages[place], model, names) if place < len(messages) else ()


def _facts(log: Log) -> str:
    cost = usd_text(log.conversation.usd)
    return f"Conversation `{_code(log.head.id)}`, begun {_inline(log.head.created)}; cost: {_inline(cost)}."


def _note(note: Note) -> list[str]:
    data = note.data
    if note.kind == "notice":
        return [f"*{_inline(str(data.get('text', '')))}*"]
    if note.kind == "hook" and data.get("outcome") != "passed":
        told = (data.get(key) for key in ("hook", "outcome", "tool", "reason"))
        return [f"*The hook {_inline(' '.join(str(each) for each in told if each))}*"]
    return []


def _message(message: Message, model: str, names: ToolNames) -> Iterator[str]:
    if isinstance(message, User):
        yield "## You"
        yield from _said(message.text, message.parts)
    elif isinstance(message, Assistant):
        yield f"## {_inline(model) or 'Model'}"
        yield from _said(message.text)
        if message.incomplete:
            yield "*The answer broke off here.*"
        for call in message.calls:
            yield from _call(call, names)
    else:
        yield from _results(message)


def _said(text: str, parts: tuple[Part, ...] = ()) -> Iterator[str]:
    if text.strip():
        yield "\n".join(f"> {line}".rstrip() for line in visible(text).splitlines())
    for part in parts:
        yield f"*({_inline(part.type)}{_kind(part.data)})*"


def _kind(data: Mapping[str, Any]) -> str:
    kind = data.get("mimeType")
    return f", {_inline(kind)}" if isinstance(kind, str) else ""


def _call(call: ToolCall, names: ToolNames) -> Iterator[str]:
    yield f"Calls `{_code(names.of(call.name))}`:"
    given = call.raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False, indent=2)
    yield _block(given, "json")


def _results(results: ToolResults) -> Iterator[str]:
    for outcome in results.outcomes:
        yield f"`{_code(outcome.name)}` {_ending(outcome)}:"
        value = outcome.result.get("error" if outcome.failed else "result")
        yield _block(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))


def _ending(outcome: ToolOutcome) -> str:
    allowed = outcome.approval or {}
    by = f", allowed by: {_inline(str(allowed.get('decider')))}" if allowed.get("allowed") else ""
    return ("failed" if outcome.failed else "gave") + by


def _block(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in ``text``."""
    shown = visible(text[:_SHOWN])
    more = len(text) - _SHOWN
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    cut = f"\n\n*({more:,} more characters)*" if more > 0 else ""
    return f"{fence}{language}\n{shown}\n{fence}{cut}"


def _inline(text: str) -> str:
    """``text`` on one line, its Markdown taken literally."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", visible_line(text))


def _code(text: str) -> str:
    return visible_line(text).replace("`", "'")
