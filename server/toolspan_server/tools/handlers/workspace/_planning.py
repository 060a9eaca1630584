"""Plan mode: while a conversation plans, its tools change nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import anyio

from ....calls.context import Context
from ....errors import ToolFailure
from ._tool import notes_of

PLAN = "plan"
"""The note of a conversation that plans."""

_Handler = Callable[[dict[str, Any], Context], Any]


def plans(context: Context) -> bool:
    """Whether the conversation of the call is in plan mode. Blocks. Raises ``ToolFailure``."""
    return notes_of(context).get(context.caller, PLAN) is not None


def not_while_planning(function: _Handler) -> _Handler:
    """The plain handler ``function``, refused while the conversation plans."""

    @wraps(function)
    def guarded(arguments: dict[str, Any], context: Context) -> Any:
        _check(context)
        return function(arguments, context)

    return guarded


def not_run_while_planning(
    function: Callable[[dict[str, Any], Context], Awaitable[Any]],
) -> Callable[[dict[str, Any], Context], Awaitable[Any]]:
    """The ``async`` handler ``function``, refused while the conversation plans."""

    @wraps(function)
    async def guarded(arguments: dict[str, Any], context: Context) -> Any:
        await anyio.to_thread.run_sync(_check, context)
        return await function(arguments, context)

    return guarded


def _check(context: Context) -> None:
    if plans(context):
        raise ToolFailure(
            f"{context.tool_name} is not available in plan mode, in which only tools that read may be called",
            error_code="plan_mode",
            user_action="Read and search until the plan is complete, then show it with ExitPlanMode.",
        )
