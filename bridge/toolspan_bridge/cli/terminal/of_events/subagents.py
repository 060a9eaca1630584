"""What sub-agents do, a line each."""

from __future__ import annotations

from ....events import Notice, SubagentEvent, ToolCallFinished, ToolCallStarted
from ..output import arguments_text, compact

__all__ = ["subagent_line"]

_WIDTH = 40


def subagent_line(event: SubagentEvent) -> str:
    """The line of ``event``; empty for what is not shown."""
    agents, inner = [compact(event.agent, _WIDTH)], event.event
    while isinstance(inner, SubagentEvent):
        agents.append(compact(inner.agent, _WIDTH))
        inner = inner.event
    match inner:
        case ToolCallStarted(tool=tool, arguments=arguments):
            told = f"→ {tool}({arguments_text(arguments)})"
        case ToolCallFinished(outcome=outcome) if outcome.failed:
            told = f"← failed: {outcome.result['error']}"
        case Notice(text=text):
            told = f"note: {text}"
        case _:
            return ""
    return f"  [{' / '.join(agents)}] {told}"
