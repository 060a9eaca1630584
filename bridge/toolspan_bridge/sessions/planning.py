"""Who decides about a plan: a flag, the policy, the person, or nobody."""

from __future__ import annotations

from dataclasses import dataclass

from ..agent.plan_mode import EXIT, PlanDecision
from ..approvals import Approval, ApprovalRequest, PersonAnswer
from ..approvals.patterns import names_tool
from ..toolbox.local import LOCAL_SERVER
from .approving import policy_of, remembered_of
from .chosen.approvals import ApprovalChoice
from .session import Session

_EDITS_FILES = "edits-files"
"""The tag of tools of our own servers that change a file of a workspace and can be undone."""


@dataclass(frozen=True, slots=True)
class Plans:
    """Decides about the plans of ``principal`` in the conversation of that id, under the options
    ``choice``."""

    session: Session
    choice: ApprovalChoice
    conversation: str
    principal: str

    async def decide(self, plan: str) -> PlanDecision:
        """The decision; an answer that accepts edits counts for the conversation. Raises ``StoreError``."""
        allowed = names_tool(self.choice.allowed, LOCAL_SERVER, EXIT)
        if allowed or policy_of(self.session, self.choice) == "never":
            return PlanDecision(approved=True)
        if (reader := self.session.host.plan_reader()) is None:
            return PlanDecision(
                approved=False, reason=f"there is nobody to ask here (allow it with --approve {EXIT})"
            )
        decision = await reader.decide(plan)
        if decision.accept_edits:
            self._accept_edits()
        return decision

    def _accept_edits(self) -> None:
        remembered = remembered_of(self.session, self.conversation, self.principal)
        toolbox = self.session.toolbox
        answer = PersonAnswer(Approval(allowed=True, decider="person", scope="conversation"))
        for spec in toolbox.tools:
            tool = toolbox.definition(spec)
            if toolbox.is_own(spec.server) and _EDITS_FILES in tool.tags:
                remembered.keep(ApprovalRequest("", spec.server, tool, {}), answer)
