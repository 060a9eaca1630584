"""Entering and leaving plan mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....calls.context import Context
from ..workspace._planning import PLAN
from ..workspace._tool import SERVICE

if TYPE_CHECKING:
    from ...services._workspaces import Workspaces


def set_planning(context: Context, *, planning: bool) -> bool:
    """Let the conversation of the call be in plan mode or not, in every workspace; whether it was.

    Blocks. Raises ``ToolFailure``.
    """
    workspaces: Workspaces = context.service(SERVICE)
    caller = context.caller
    value = True if planning else None
    before = {name: workspaces.get(name).notes.set(caller, PLAN, value) for name in workspaces.configs}
    return any(before.values())
