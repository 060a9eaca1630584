"""What happens while a question is answered, as it happens, and what comes of it.

Chat, web page, validation and the CLI are consumers of the same events; ``End`` is always the last.
A turn that is streamed comes as deltas first, and then whole as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .approvals import Approval
from .client.events import (
    ElicitationAnswer,
    ElicitationRequest,
    SamplingAnswer,
    SamplingRequest,
)
from .messages import Citation, Failure, Json, ToolCall, ToolOutcome, Usage
from .messages.deltas import (
    CallDelta,
    Delta,
    ReasoningDelta,
    TextDelta,
)

__all__ = [
    "Answer",
    "CallDelta",
    "ElicitationAnswer",
    "ElicitationRequest",
    "End",
    "Ending",
    "Event",
    "HookRan",
    "IterationStarted",
    "Notice",
    "ReasoningDelta",
    "SamplingAnswer",
    "SamplingRequest",
    "SubagentEvent",
    "Text",
    "TextDelta",
    "TextRetracted",
    "ToolApprovalAnswer",
    "ToolApprovalRequest",
    "ToolCallFinished",
    "ToolCallStarted",
    "ToolLog",
    "ToolProgress",
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
    "end",
    "length",
    "refusal",
    "malformed",
    "error",
    "pause",
    "incomplete",
    "limit",
    "empty",
    "schema",
    "denied",
    "calls",
]
"""How an answer ended: as a turn may (``StopReason``); with a stream that broke off (``incomplete``); at a
limit, which ``Answer.limit`` names, or without words after the last turn that was allowed (``limit``); as a
whole one with nothing in it (``empty``); with one that does not fit the question's schema
(``schema``); denied by a hook (``denied``); or with calls that are the caller's to make (``calls``)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question. ``iterations`` counts the turns in which the model could call tools; ``notes``
    say what was left out of a request, such as a tool that the provider refuses. ``stop`` is how it ended;
    ``reason`` says in words why it is ``broken``, where it is. ``citations`` are the sources of
    ``content``. Of a question with ``answer_schema``, ``value`` is the JSON value of an answer that
    ``fits``. ``usd`` is what it cost in US dollars, where every price is known. ``limit`` is the limit that
    ended the question: ``question.`` or ``conversation.`` and ``calls``, ``tokens``, ``usd`` or ``seconds``,
    or ``repair_attempts``; ``content`` is then what the model said in a last turn without tools, if the
    limit left room for one. ``returned_calls`` are calls of the caller's own tools, which ended the run.
    ``failure`` is what the provider said of its failure in an ``incomplete`` one, if it said anything."""

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
    limit: str = ""
    returned_calls: tuple[ToolCall, ...] = ()
    failure: Failure | None = None

    @property
    def broken(self) -> bool:
        """Whether this is no whole answer, and so no success: ``stop`` and ``reason`` say why."""
        return self.stop not in ("end", "calls")

    def as_dict(self) -> dict[str, Any]:
        """``{"content", "model", "provider", "tool_calls", "usage", "iterations"}``, and, where it is so,
        ``"max_iterations_reached"``, ``"repeated_calls_stopped"`` or ``"incomplete"``, each ``true``,
        ``"value"`` (where the answer fits the question's schema), ``"notes"``, ``"citations"``
        (``[{"url", "title", "start", "end", "quoted"}]``), and of a broken answer ``"stop"`` and
        ``"reason"``, and ``"limit"``, the limit that ended it; ``"returned_calls"``
        (``[{"id", "tool", "arguments"}]``) of one that ended with such."""
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
        data |= {"stop": self.stop, "reason": self.reason} if self.broken else {}
        data |= {"limit": self.limit} if self.limit else {}
        returned = [{"id": c.id, "tool": c.name, "arguments": c.arguments} for c in self.returned_calls]
        return data | ({"returned_calls": returned} if returned else {})


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """The model is asked. ``closing`` is the last turn, without tools, after ``max_iterations`` or at another
    limit."""

    iteration: int
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one turn, beside its calls or as its answer: whole, also after its deltas."""

    text: str
    iteration: int


@dataclass(frozen=True, slots=True)
class TextRetracted:
    """The text that came of the turn, in deltas, is no part of the answer: the turn cannot be used, and the
    model is asked again. A ``Notice`` before it says why."""

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
    """A call waits for approval; ``reason`` says why it needs one. ``facts`` are sentences about a call that
    would carry data outward: where to, and after what was read. A ``ToolApprovalAnswer`` follows."""

    call_id: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    iteration: int
    reason: str = ""
    facts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """``{"type": "tool_approval_request", "tool_use_id", "tool_name", "tool_input", "server",
        "reason"}``, and ``"facts"`` where there are any."""
        facts = {"facts": list(self.facts)} if self.facts else {}
        return facts | {
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
class ToolProgress:
    """How far a running call is, in a unit of the tool's own; ``total`` is ``None`` where it is unknown."""

    call_id: str
    server: str
    tool: str
    progress: float
    total: float | None
    message: str
    iteration: int


@dataclass(frozen=True, slots=True)
class ToolLog:
    """A log message of a server during a call. ``level`` is one of syslog's words, as MCP has them."""

    call_id: str
    server: str
    tool: str
    level: str
    text: str
    iteration: int


@dataclass(frozen=True, slots=True)
class SubagentEvent:
    """What happens while a sub-agent works, which a call of ``tool`` started. ``agent`` is what it does, in a
    few words; ``event`` happens in a conversation of its own, never an ``End``."""

    call_id: str
    tool: str
    agent: str
    event: Event
    iteration: int


@dataclass(frozen=True, slots=True)
class HookRan:
    """A hook ran at ``point`` (``before_turn``, ``after_turn``, ``before_call``, ``after_call``). ``reason``
    is why it denied, or how it failed; ``tool`` and ``call_id`` are those of a call."""

    hook: str
    point: str
    outcome: Literal["passed", "changed", "denied", "failed"]
    reason: str = ""
    tool: str = ""
    call_id: str = ""

    def as_dict(self) -> dict[str, str]:
        """``{"hook", "point", "outcome"}``, and ``"reason"``, ``"tool"`` and ``"call_id"`` where there are
        such."""
        told = {"hook": self.hook, "point": self.point, "outcome": self.outcome}
        more = {"reason": self.reason, "tool": self.tool, "call_id": self.call_id}
        return told | {name: value for name, value in more.items() if value}


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
    | TextRetracted
    | ToolCallStarted
    | ToolApprovalRequest
    | ToolApprovalAnswer
    | ToolProgress
    | ToolLog
    | ElicitationRequest
    | ElicitationAnswer
    | SamplingRequest
    | SamplingAnswer
    | ToolCallFinished
    | SubagentEvent
    | HookRan
    | UsageReported
    | Notice
    | End
)
"""What happens while a question is answered, in order; the last is an ``End``."""
