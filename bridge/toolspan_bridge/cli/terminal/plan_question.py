"""A plan, shown to the person at the terminal, who approves it or not."""

from __future__ import annotations

from ...agent.plan_mode import PlanDecision
from .choices import print_choices
from .output import print_coloured
from .questions.one_question import one_question, read_key, read_line

_KEYS = {
    "y": "yes",
    "a": "yes, and edit files without asking",
    "n": "no",
    "r": "no, with a reason",
}


class TerminalPlanReader:
    """The person at the terminal. Ctrl+D is a no."""

    async def decide(self, plan: str) -> PlanDecision:
        """The person's decision."""
        try:
            async with one_question():
                return await _decided(plan)
        except EOFError:
            return PlanDecision(approved=False, reason="the person did not answer")


async def _decided(plan: str) -> PlanDecision:
    print_coloured([("the plan:", "yellow"), *((f"  {line}", None) for line in plan.splitlines())])
    print_choices(_KEYS)
    key = await read_key("leave plan mode with it? ", _KEYS)
    if key == "r":
        reason = (await read_line("what it lacks, for the model: ")).strip()
        return PlanDecision(approved=False, reason=f"the person says: {reason}" if reason else "")
    return PlanDecision(approved=key != "n", accept_edits=key == "a")
