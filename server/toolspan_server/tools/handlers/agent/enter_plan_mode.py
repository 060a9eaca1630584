"""``EnterPlanMode``: from here on the conversation only reads, until its plan is approved."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
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


@handler("EnterPlanMode", kind="internal", options=Options, references=references)
def enter_plan_mode(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{}`` → ``{"plan_mode": true, "already": whether it was in plan mode before}``."""
    del arguments
    return {"plan_mode": True, "already": set_planning(context, planning=True)}
