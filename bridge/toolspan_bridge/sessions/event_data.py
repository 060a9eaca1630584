"""Each event as the object of its line, or of its server-sent event: ``{"type": …}``, the class's name in
small letters, and its fields.

Of a call these are ``tool_use_id`` (its id), ``server``, ``tool_name`` and ``tool_input``, as in the events
that ask a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ..client.events import ElicitationAnswer, ElicitationRequest, SamplingAnswer, SamplingRequest
from ..events import (
    CallDelta,
    End,
    Event,
    HookRan,
    IterationStarted,
    Notice,
    ReasoningDelta,
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

__all__ = ["event_data", "named_event"]


def event_data(event: Event) -> dict[str, Any]:
    """``event`` as plain data (``line_schema`` says what each type has)."""
    if isinstance(event, _WITH_DATA):
        return event.as_dict()
    name, fields = _FIELDS[type(event)]
    return {"type": name, **fields(cast("Any", event))}


_WITH_DATA = (
    ToolApprovalRequest,
    ToolApprovalAnswer,
    ElicitationRequest,
    ElicitationAnswer,
    SamplingRequest,
    SamplingAnswer,
)


def _text(event: TextDelta | Notice) -> dict[str, Any]:
    return {"text": event.text}


def _thoughts(event: ReasoningDelta) -> dict[str, Any]:
    return {"text": event.text} | ({"was_text": True} if event.was_text else {})


def _call_delta(event: CallDelta) -> dict[str, Any]:
    return {"index": event.index, "tool_name": event.name, "arguments": event.arguments}


def _started(event: ToolCallStarted) -> dict[str, Any]:
    arguments = None if event.arguments is None else dict(event.arguments)
    rescued = {"rescued": True} if event.rescued else {}
    return {**_of_call(event), "tool_input": arguments, "iteration": event.iteration, **rescued}


def _finished(event: ToolCallFinished) -> dict[str, Any]:
    return {**_of_call(event), "result": dict(event.outcome.result), "iteration": event.iteration}


def _progress(event: ToolProgress) -> dict[str, Any]:
    far = {"progress": event.progress, "total": event.total, "message": event.message}
    return {**_of_call(event), **far, "iteration": event.iteration}


def _log(event: ToolLog) -> dict[str, Any]:
    return {**_of_call(event), "level": event.level, "text": event.text, "iteration": event.iteration}


def _subagent(event: SubagentEvent) -> dict[str, Any]:
    of = {"tool_use_id": event.call_id, "tool_name": event.tool, "agent": event.agent}
    return {**of, "event": event_data(event.event), "iteration": event.iteration}


def _hook(event: HookRan) -> dict[str, Any]:
    ran = {"hook": event.hook, "point": event.point, "outcome": event.outcome}
    of = {"reason": event.reason, "tool_name": event.tool, "tool_use_id": event.call_id}
    return ran | {key: value for key, value in of.items() if value}


def _of_call(event: ToolCallStarted | ToolCallFinished | ToolProgress | ToolLog) -> dict[str, Any]:
    return {"tool_use_id": event.call_id, "server": event.server, "tool_name": event.tool}


_FIELDS: Mapping[type[Any], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    IterationStarted: (
        "iteration_started",
        lambda event: {"iteration": event.iteration, "closing": event.closing},
    ),
    TextDelta: ("text_delta", _text),
    ReasoningDelta: ("reasoning_delta", _thoughts),
    CallDelta: ("call_delta", _call_delta),
    Text: ("text", lambda event: {"text": event.text, "iteration": event.iteration}),
    TextRetracted: ("text_retracted", lambda event: {"iteration": event.iteration}),
    ToolCallStarted: ("tool_call_started", _started),
    ToolCallFinished: ("tool_call_finished", _finished),
    ToolProgress: ("tool_progress", _progress),
    ToolLog: ("tool_log", _log),
    SubagentEvent: ("subagent_event", _subagent),
    HookRan: ("hook_ran", _hook),
    UsageReported: (
        "usage_reported",
        lambda event: {"usage": event.usage.as_dict(), "iteration": event.iteration},
    ),
    Notice: ("notice", _text),
    End: ("end", lambda event: event.answer.as_dict()),
}
_NAMES = {
    "iteration_started": "iteration",
    "tool_call_started": "tool_call",
    "tool_call_finished": "tool_result",
    "tool_approval_request": "approval_requested",
    "tool_approval_answer": "approval_answered",
    "elicitation_request": "elicitation_requested",
    "elicitation_answer": "elicitation_answered",
    "sampling_request": "sampling_requested",
    "sampling_answer": "sampling_answered",
    "subagent_event": "subagent",
    "hook_ran": "hook",
    "usage_reported": "usage",
    "end": "answer",
}
"""The names of server-sent events, where they are not those of lines."""


def named_event(event: Event) -> tuple[str, dict[str, Any]]:
    """The name of ``event`` as a server-sent event, and its data: those of ``event_data`` without
    ``type``."""
    data = event_data(event)
    kind = str(data.pop("type"))
    return _NAMES.get(kind, kind), data
