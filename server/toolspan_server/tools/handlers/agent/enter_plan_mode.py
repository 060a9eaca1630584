"""``EnterPlanMode``: from here on the conversation only reads, until its plan is approved."""

from __future__ import annotations

from typing import Any

import anyio

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import ToolFailure
from ..workspace._tool import Definition, Options, references
from ._plan_mode import set_planning

DEFINITION = Definition(
    name="EnterPlanMode",
    description=(
        "Enter plan mode, for work that should be agreed on before anything is changed: until ExitPlanMode "
        "only tools that read may be called. Look around, then show the plan with ExitPlanMode."
    ),
    properties={},
    read_only=True,
    idempotent=True,
    sequential=True,
    tags=(
        "main-agent",
        "client:EnterPlanMode",
    ),
)


@handler("EnterPlanMode", kind="internal", options=Options, references=references, talks=True)
async def enter_plan_mode(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{}`` → ``{"plan_mode": true, "already": whether it was in plan mode before}``.

    Where nobody could approve a plan the mode would never end, and so it is not entered.
    """
    del arguments
    if not context.client.accepts("elicitation"):
        raise ToolFailure(
            "There is no plan mode here: the client does not support elicitation, so nobody could approve "
            "the plan",
            error_code="client_cannot_answer",
            user_action="Write the plan as your answer, and change nothing until the person agrees to it.",
        )
    already = await anyio.to_thread.run_sync(lambda: set_planning(context, planning=True))
    return {"plan_mode": True, "already": already}
