"""Who is asked in a conversation: each question is an event, and waits until an answer to it is posted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from toolspan_server.engines.definitions.call_preview import CallPreview, Section

from ...agent.plan_mode import EXIT, PlanDecision
from ...approvals import (
    Approval,
    ApprovalRequest,
    Departure,
    EditedCall,
    PersonAnswer,
    lacks_sandbox,
    question_of,
)
from ...client import Elicited
from ...client.fields import form_faults
from ...loop import Checker
from ...messages import ToolSpec
from ..problems import FieldProblem, Problem

if TYPE_CHECKING:
    from ...client import Elicitation
    from ...sessions.host import Warnings
    from .pending import PendingRequests

Tell = Callable[[str, dict[str, Any]], None]
Scope = Literal["once", "conversation", "tool"]
_SCOPES: dict[str, Scope] = {
    "allow_once": "once",
    "allow_conversation": "conversation",
    "allow_always": "tool",
}
DENY = "deny"


class AskedPerson:
    """Asked about calls of tools."""

    def __init__(self, tell: Tell, pending: PendingRequests, warnings: Warnings) -> None:
        self._tell = tell
        self._pending = pending
        self._warnings = warnings

    async def ask(self, request: ApprovalRequest, departure: Departure | None) -> PersonAnswer | EditedCall:
        """The posted answer. A question that is cancelled was answered with no; one that is answered with
        other arguments is asked again, with these."""
        decisions = ["allow_once", DENY] if lacks_sandbox(request) else [*_SCOPES, DENY]
        if request.facts and "allow_always" in decisions:
            decisions.remove("allow_always")
        question = question_of(request, departure, self._warnings(request.server, request.tool.name))
        data: dict[str, Any] = {
            "tool_use_id": request.call_id,
            "server": request.server,
            "tool_name": request.tool.name,
            "tool_input": dict(request.arguments),
            "reason": request.reason,
            "decisions": decisions,
            "preview": question.as_dict(),
        }
        data |= {"facts": list(request.facts)} if request.facts else {}
        asked = self._pending.add("approval", data, lambda posted: _approval(posted, request, decisions))
        self._tell("approval_requested", asked.data)
        answer: Approval | EditedCall = Approval(allowed=False, decider="person", reason="nobody answered")
        try:
            await asked.answered.wait()
            answer = cast("Approval | EditedCall", asked.answer)
        finally:
            self._pending.end(asked)
            ids = {"request": asked.id, "tool_use_id": request.call_id, "tool_name": request.tool.name}
            told = {"asked_again": True} if isinstance(answer, EditedCall) else answer.as_dict()
            self._tell("approval_answered", ids | told)
        return answer if isinstance(answer, EditedCall) else PersonAnswer(answer)


class AskedPlanReader:
    """Asked about plans, as about a call of ``ExitPlanMode``."""

    def __init__(self, tell: Tell, pending: PendingRequests) -> None:
        self._tell = tell
        self._pending = pending

    async def decide(self, plan: str) -> PlanDecision:
        """The posted decision; ``allow_conversation`` also accepts edits of files."""
        decisions = ["allow_once", "allow_conversation", DENY]
        data: dict[str, Any] = {"tool_name": EXIT, "tool_input": {"plan": plan}, "reason": "it is a plan"}
        title = "The model has a plan, and asks to carry it out"
        shown = CallPreview((Section("text", "plan", plan),), title)
        data |= {"decisions": decisions, "preview": shown.as_dict()}
        asked = self._pending.add("approval", data, lambda posted: _decision(posted, decisions))
        self._tell("approval_requested", asked.data)
        decided = PlanDecision(approved=False, reason="nobody answered")
        try:
            await asked.answered.wait()
            decided = cast("PlanDecision", asked.answer)
        finally:
            self._pending.end(asked)
            told = {"request": asked.id, "tool_name": EXIT, "allowed": decided.approved, "decider": "person"}
            self._tell("approval_answered", told | ({"reason": decided.reason} if decided.reason else {}))
        return decided


class AskedElicitor:
    """Asked what servers want to know."""

    def __init__(self, tell: Tell, pending: PendingRequests) -> None:
        self._tell = tell
        self._pending = pending

    async def elicit(self, question: Elicitation) -> Elicited:
        """The posted answer. A question that is cancelled has none."""
        data: dict[str, Any] = {
            "server": question.server,
            "tool_name": question.tool,
            "mode": question.mode,
            "message": question.message,
        }
        data |= {"url": question.url} if question.url else {"requested_schema": dict(question.schema)}
        asked = self._pending.add("elicitation", data, lambda posted: _elicited(posted, question))
        self._tell("elicitation_requested", asked.data)
        answer = Elicited("cancel")
        try:
            await asked.answered.wait()
            answer = cast("Elicited", asked.answer)
        finally:
            self._pending.end(asked)
            ids = {"request": asked.id, "server": question.server, "tool_name": question.tool}
            self._tell("elicitation_answered", ids | answer.as_dict())
        return answer


def _approval(
    posted: Mapping[str, Any], request: ApprovalRequest, decisions: list[str]
) -> Approval | EditedCall:
    decision = _decided(posted, decisions)
    if decision == DENY:
        return Approval(allowed=False, decider="person", reason=str(posted.get("reason") or ""))
    changed: Mapping[str, Any] | None = posted.get("arguments")
    if changed is not None:
        tool = request.tool
        spec = ToolSpec(request.server, tool.name, tool.description, tool.schema)
        if faults := Checker().faults(spec, changed):
            raise _wrong("/arguments", faults)
        if changed != request.arguments:
            return EditedCall(changed)
    return Approval(allowed=True, decider="person", scope=_SCOPES[decision])


def _decision(posted: Mapping[str, Any], decisions: list[str]) -> PlanDecision:
    decision = _decided(posted, decisions)
    reason = f"the person says: {posted['reason']}" if posted.get("reason") else ""
    if decision == DENY:
        return PlanDecision(approved=False, reason=reason)
    return PlanDecision(approved=True, accept_edits=decision == "allow_conversation")


def _decided(posted: Mapping[str, Any], decisions: list[str]) -> str:
    decision = posted.get("decision")
    if decision not in decisions:
        raise _wrong("/decision", [f"must be one of {', '.join(decisions)}"])
    if posted.get("action") is not None or posted.get("content") is not None:
        raise _wrong("/action", ["this is no elicitation: an approval has a decision alone"])
    return str(decision)


def _elicited(posted: Mapping[str, Any], question: Elicitation) -> Elicited:
    action, content = posted.get("action"), posted.get("content")
    if action not in ("accept", "decline", "cancel"):
        raise _wrong("/action", ["must be one of accept, decline, cancel"])
    if action != "accept" or question.url:
        return Elicited(action)
    filled: dict[str, Any] = content or {}
    if faults := form_faults(question.schema, filled):
        raise _wrong("/content", faults)
    return Elicited("accept", filled)


def _wrong(pointer: str, faults: list[str]) -> Problem:
    found = [FieldProblem(pointer=pointer, detail=fault) for fault in faults]
    return Problem(422, f"{pointer}: {'; '.join(faults)}", errors=found)
