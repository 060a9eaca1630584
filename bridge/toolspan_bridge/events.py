"""What happens while a question is answered, as it happens, and what comes of it.

Chat, web page, validation and the CLI are consumers of the same events; ``End`` is always the last.
A turn that is streamed comes as deltas first, and then whole as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .approvals import Approval
from .deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)
from .messages import Citation, Json, ToolOutcome, Usage

__all__ = [
    "Answer",
    "CallDelta",
    "End",
    "Ending",
    "Event",
    "IterationStarted",
    "Notice",
    "ReasoningDelta",
    "Text",
    "TextDelta",
    "ToolApprovalAnswer",
    "ToolApprovalRequest",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolUse",
    "UsageReported",
]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call of an answer. ``tool`` is the tool's own name; ``arguments`` is ``None`` when the model
    sent no JSON object; ``result`` is the tool result object; ``iteration`` counts from 1. ``rescued``: the
    model wrote the call as text."""

    tool: str
    arguments: Mapping[str, Any] | None
    result: Mapping[str, Any]
    iteration: int
    rescued: bool = False

    def as_dict(self) -> dict[str, Any]:
        """``{"tool", "arguments", "result", "iteration"}``, and ``"rescued": true`` where it is so."""
        return {
            "tool": self.tool,
            "arguments": None if self.arguments is None else dict(self.arguments),
            "result": dict(self.result),
            "iteration": self.iteration,
        } | ({"rescued": True} if self.rescued else {})


Ending = Literal[
    "end", "length", "refusal", "malformed", "error", "pause", "incomplete", "limit", "empty", "schema"
]
"""How an answer ended: as a turn may (``StopReason``); with a stream that broke off (``incomplete``); without
words after the last turn that was allowed (``limit``); as a whole one with nothing in it (``empty``); or with
one that does not fit the question's schema (``schema``)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question. ``iterations`` counts the turns in which the model could call tools; ``notes``
    say what was left out of a request, such as a tool that the provider refuses. ``stop`` is how it ended;
    ``reason`` says in words why it is ``broken``, where it is. ``citations`` are the sources of
    ``content``. Of a question with ``answer_schema``, ``value`` is the JSON value of an answer that
    ``fits``. ``usd`` is what it cost in US dollars, where the asker has priced it and every price is
    known."""

    content: str
    model: str
    provider: str
    tool_calls: tuple[ToolUse, ...]
    usage: Usage
    iterations: int
    max_iterations_reached: bool = False
    repeated_calls_stopped: bool = False
    incomplete: bool = False
    notes: tuple[str, ...] = ()
    stop: Ending = "end"
    reason: str = ""
    citations: tuple[Citation, ...] = ()
    fits: bool = False
    value: Json = None
    usd: float | None = None

    @property
    def broken(self) -> bool:
        """Whether this is no whole answer, and so no success: ``stop`` and ``reason`` say why."""
        return self.stop != "end"

    def as_dict(self) -> dict[str, Any]:
        """``{"content", "model", "provider", "tool_calls", "usage", "iterations"}``, and, where it is so,
        ``"max_iterations_reached"``, ``"repeated_calls_stopped"`` or ``"incomplete"``, each ``true``,
        ``"value"`` (where the answer fits the question's schema), ``"notes"``, ``"citations"``
        (``[{"url", "title", "start", "end", "quoted"}]``), and of a broken answer ``"stop"`` and
        ``"reason"``."""
        data: dict[str, Any] = {
            "content": self.content,
            "model": self.model,
            "provider": self.provider,
            "tool_calls": [use.as_dict() for use in self.tool_calls],
            "usage": self.usage.as_dict(),
            "iterations": self.iterations,
        }
        for flag in ("max_iterations_reached", "repeated_calls_stopped", "incomplete"):
            if getattr(self, flag):
                data[flag] = True
        data |= {"value": self.value} if self.fits else {}
        data |= {"notes": list(self.notes)} if self.notes else {}
        data |= {"citations": [source.as_dict() for source in self.citations]} if self.citations else {}
        return data | ({"stop": self.stop, "reason": self.reason} if self.broken else {})


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """The model is asked. ``closing`` is the last turn, without tools, after ``max_iterations``."""

    iteration: int
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one turn, beside its calls or as its answer: whole, also after its deltas."""

    text: str
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model wants this call. ``server`` is empty when no tool of that name is known; ``arguments`` is
    ``None`` when the model sent no JSON object; ``iteration`` counts from 1. ``rescued``: the model wrote the
    call as text."""

    call_id: str
    server: str
    tool: str
    arguments: Mapping[str, Any] | None
    iteration: int
    rescued: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """The call's one outcome, whether it was made or refused."""

    call_id: str
    server: str
    tool: str
    outcome: ToolOutcome
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolApprovalRequest:
    """A call waits for approval; ``reason`` says why it needs one. A ``ToolApprovalAnswer`` follows."""

    call_id: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    iteration: int
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "tool_approval_request", "tool_use_id", "tool_name", "tool_input", "server",
        "reason"}``."""
        return {
            "type": "tool_approval_request",
            "tool_use_id": self.call_id,
            "tool_name": self.tool,
            "tool_input": dict(self.arguments),
            "server": self.server,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class ToolApprovalAnswer:
    """The answer to a ``ToolApprovalRequest``. A denied call has a failed outcome with ``error_code``
    ``denied``."""

    call_id: str
    tool: str
    approval: Approval
    iteration: int

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "tool_approval_answer", "tool_use_id", "tool_name", "allowed", "decider", "scope"}``,
        and ``"reason"`` and ``"arguments"`` where there are any."""
        ids = {"type": "tool_approval_answer", "tool_use_id": self.call_id, "tool_name": self.tool}
        return ids | self.approval.as_dict()


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The tokens of one turn."""

    usage: Usage
    iteration: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know, in one sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class End:
    """The question is answered."""

    answer: Answer


Event = (
    IterationStarted
    | Delta
    | Text
    | ToolCallStarted
    | ToolApprovalRequest
    | ToolApprovalAnswer
    | ToolCallFinished
    | UsageReported
    | Notice
    | End
)
"""What happens while a question is answered, in order; the last is an ``End``."""
