"""``ExitPlanMode``: a person is shown the plan, and approves it or not."""

from __future__ import annotations

from typing import Any

import anyio

from ....calls.client import Question
from ....calls.context import Context
from ....engines.registration import handler
from ....errors import ToolFailure
from ..workspace._planning import plans
from ..workspace._tool import Definition, Options, references
from ._plan_mode import set_planning

LONGEST_PLAN = 20_000
_KEY = "plan"
_YES, _NO = "Yes", "No, go on planning"
_FORM = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "title": "Leave plan mode with this plan?", "enum": [_YES, _NO]},
        "reason": {
            "type": "string",
            "title": "If not, why",
            "description": "What the plan lacks: the model reads it",
            "maxLength": 4_000,
        },
    },
    "required": ["answer"],
}

DEFINITION = Definition(
    name="ExitPlanMode",
    description=(
        "Show the plan to the person and ask to leave plan mode. Only when it is approved may tools that "
        "change something be called; else plan mode goes on."
    ),
    properties={
        "plan": {
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_PLAN,
            "description": "The whole plan, as Markdown",
        }
    },
    required=("plan",),
    read_only=True,
    sequential=True,
    tags=(
        "main-agent",
        "client:ExitPlanMode",
    ),
)


@handler("ExitPlanMode", kind="internal", options=Options, references=references, talks=True)
async def exit_plan_mode(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"plan"}`` → ``{"approved": true, "plan_mode": false}``; a plan that is not approved is a failure
    (``plan_not_approved``), after which plan mode goes on."""
    if not await anyio.to_thread.run_sync(plans, context):
        raise ToolFailure(
            "The conversation is not in plan mode",
            error_code="not_in_plan_mode",
            user_action="Go on with the work: nothing has to be approved by ExitPlanMode.",
        )
    if not context.client.accepts("elicitation"):
        raise _refused("nobody can be asked here: the client does not support elicitation")
    params = {
        "mode": "form",
        "message": f"The plan:\n\n{arguments['plan']}\n\nMay the work begin?",
        "requestedSchema": _FORM,
    }
    answers = await context.client.ask({_KEY: Question("elicitation", params, once=True)})
    action: Any = answers[_KEY].get("action")
    content: dict[str, Any] = answers[_KEY].get("content") or {}
    if action != "accept":
        raise _refused("the person declined" if action == "decline" else "the person did not answer")
    if content.get("answer") != _YES:
        raise _refused(f"the person says: {content.get('reason') or 'No'}")
    await anyio.to_thread.run_sync(lambda: set_planning(context, planning=False))
    return {"approved": True, "plan_mode": False}


def _refused(why: str) -> ToolFailure:
    return ToolFailure(
        f"The plan is not approved, and plan mode goes on: {why}",
        error_code="plan_not_approved",
        user_action="Change the plan accordingly and show it again, or answer without changing anything.",
    )
