"""Events, during a call too, and sources: a line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....approvals import Approval
from ....events import ElicitationAnswer, HookRan, SamplingAnswer, ToolLog, ToolProgress
from ....messages import Citation
from ..output import arguments_text, compact

__all__ = [
    "NOT_USED",
    "WAS_THOUGHT",
    "answered",
    "approval_text",
    "hook_line",
    "hook_text",
    "meanwhile",
    "source_lines",
]

WAS_THOUGHT = "(the text above is what the model thought, and no part of its answer)"
NOT_USED = "(the text above is no part of the answer)"

_WIDTH = 500


def hook_text(event: HookRan) -> str:
    """What a hook did; nothing of one that let things be."""
    return hook_line(event.as_dict())


def hook_line(ran: Mapping[str, Any]) -> str:
    """The same of a ``HookRan`` as an object."""
    if ran.get("outcome") == "passed":
        return ""
    of = f" {tool}" if (tool := ran.get("tool")) else ""
    why = f": {reason}" if (reason := ran.get("reason")) else ""
    return f"  hook {ran.get('hook')} {ran.get('outcome')}{of}{why}"


def approval_text(tool: str, approval: Approval) -> str:
    """What was decided about a call where the person does not know it: by others, or for later calls."""
    if approval.decider == "person" and approval.arguments is None:
        return ""
    if approval.arguments is not None:
        return f"→ {tool}({arguments_text(approval.arguments)}), as changed"
    by = {"earlier": "an earlier answer", "flag": "--approve", "rule": "a rule", "policy": "the policy"}
    return f"  allowed by {by.get(approval.decider, approval.decider)}" if approval.allowed else ""


def source_lines(citations: Iterable[Citation]) -> list[str]:
    """``[1] title url``, each source once, in the order of the text."""
    titles: dict[str, str] = {}
    for source in citations:
        titles[source.url] = titles.get(source.url) or source.title
    named = (f"{title} {url}" if title and url else title or url for url, title in titles.items())
    return [f"[{number}] {' '.join(name.split())}" for number, name in enumerate(named, start=1)]


def meanwhile(event: ToolProgress | ToolLog) -> str:
    """The line of a report of progress, or of a log message."""
    if isinstance(event, ToolLog):
        return f"  {event.tool} [{event.level}]: {compact(event.text, _WIDTH)}"
    of = "" if event.total is None else f" of {event.total:g}"
    message = f", {compact(event.message, _WIDTH)}" if event.message else ""
    return f"  {event.tool}: {event.progress:g}{of}{message}"


def answered(event: ElicitationAnswer | SamplingAnswer) -> str:
    """The line of what a server was answered."""
    if isinstance(event, ElicitationAnswer):
        words = {"accept": "answered", "decline": "declined", "cancel": "left without an answer"}
        return f"  {event.tool}: its question was {words[event.answer.action]}"
    if event.refused:
        return f"  {event.tool}: its server wanted the model asked: refused: {event.refused}"
    tokens = f"{event.usage.input_tokens:,} + {event.usage.output_tokens:,} tokens"
    return f"  {event.tool}: its server had {event.model} asked ({tokens})"
