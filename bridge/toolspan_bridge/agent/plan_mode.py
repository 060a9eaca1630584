"""Plan mode: while a conversation plans, only tools that read are called, whoever serves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from toolspan_server.engines.upstreams import ListedTool

from ..conversation import Conversation
from ..provenance.outward import LOCAL
from ..toolbox import Toolbox
from ..toolbox.local import LocalCall, LocalFailure, LocalTool
from ..toolbox.toolbox import Guard
from .performed import alone, listed_as

__all__ = ["PLANNING", "PlanDecision", "PlanReader", "plan_guard", "plan_tools"]

ENTER, EXIT = "EnterPlanMode", "ExitPlanMode"
PLANNING = (
    "Plan mode is on: only tools that read may be called, and nothing is to be changed. Look around, ask "
    f"what you need to know, and then show your plan by calling {EXIT}."
)
"""Told to the model in a question that begins in plan mode."""

_EXIT = ListedTool(
    EXIT,
    "Show the plan to the person and ask to leave plan mode. Only when it is approved may tools that change "
    "something be called; else plan mode goes on.",
    {
        "type": "object",
        "properties": {"plan": {"type": "string", "description": "The whole plan, as Markdown"}},
        "required": ["plan"],
        "additionalProperties": False,
    },
    {"annotations": {"readOnlyHint": True}, **LOCAL},
)
_SHOW_AGAIN = "Change the plan accordingly and show it again, or answer without changing anything."


@dataclass(frozen=True, slots=True)
class PlanDecision:
    """What was decided about a plan. ``accept_edits``: files may be edited without a further question.
    ``reason`` tells the model why it is not approved."""

    approved: bool
    accept_edits: bool = False
    reason: str = ""


class PlanReader(Protocol):
    """Somebody who decides about plans."""

    async def decide(self, plan: str) -> PlanDecision:
        """The decision about ``plan``, a text in Markdown."""
        ...


def plan_guard(conversation: Conversation) -> Guard:
    """Refuses calls while ``conversation`` plans: of each tool that does not say that it only reads."""

    def refusal(server: str, tool: ListedTool) -> LocalFailure | None:
        del server
        if not conversation.plan_mode or tool.annotations.get("readOnlyHint") is True:
            return None
        return LocalFailure(
            f"{tool.name} is not available in plan mode, in which only tools that read may be called",
            "plan_mode",
            f"Read and search until the plan is complete, then show it with {EXIT}.",
        )

    return refusal


def plan_tools(toolbox: Toolbox, conversation: Conversation, reader: PlanReader) -> Iterator[LocalTool]:
    """``EnterPlanMode`` and ``ExitPlanMode`` of ``conversation``, where a server of ours has them; the second
    also where it plans already."""
    for tool in listed_as(toolbox, ENTER):
        yield _Enter(alone(tool), conversation)
    found = list(listed_as(toolbox, EXIT)) or ([_EXIT] if conversation.plan_mode else [])
    for tool in found:
        yield _Exit(alone(tool), conversation, reader)


@dataclass(frozen=True, slots=True)
class _Enter:
    definition: ListedTool
    conversation: Conversation

    async def call(self, call: LocalCall) -> Any:
        """``{"plan_mode": true, "already": whether it was in plan mode before}``."""
        del call
        already = self.conversation.plan_mode
        self.conversation.plan_mode = True
        return {"plan_mode": True, "already": already}


@dataclass(frozen=True, slots=True)
class _Exit:
    definition: ListedTool
    conversation: Conversation
    reader: PlanReader

    async def call(self, call: LocalCall) -> Any:
        """``{"approved": true, "plan_mode": false, "accept_edits"}``. Raises ``LocalFailure``."""
        if not self.conversation.plan_mode:
            raise LocalFailure(
                "The conversation is not in plan mode",
                "not_in_plan_mode",
                f"Go on with the work: nothing has to be approved by {EXIT}.",
            )
        decision = await self.reader.decide(call.arguments["plan"])
        if not decision.approved:
            why = f": {decision.reason}" if decision.reason else ""
            text = f"The plan is not approved, and plan mode goes on{why}"
            raise LocalFailure(text, "plan_not_approved", _SHOW_AGAIN)
        self.conversation.plan_mode = False
        return {"approved": True, "plan_mode": False, "accept_edits": decision.accept_edits}
