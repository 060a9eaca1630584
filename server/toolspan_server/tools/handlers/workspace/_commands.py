"""What the tools that run commands have in common: how they find the runner, how an ending reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ....calls.context import Context
from ._tool import SERVICE, Options

if TYPE_CHECKING:
    from ....engines.sandbox import CommandLimits, CommandRunner, Ending
    from ...services._workspaces import Workspaces


def runner_of(context: Context) -> CommandRunner:
    """What runs commands in the workspace of a call. Raises ``ToolFailure``."""
    workspaces: Workspaces = context.service(SERVICE)
    return workspaces.runner(cast("Options", context.options).workspace)


def ended(ending: Ending, limits: CommandLimits, timeout_ms: int) -> dict[str, Any]:
    """``{"exit_code", "timed_out"}``, and ``"ended_by"`` where the command did not end by itself."""
    code = ending.status if ending.signal is None else 128 + ending.signal
    whole: dict[str, Any] = {"exit_code": code, "timed_out": ending.limit == "seconds"}
    if ending.limit == "seconds":
        return {**whole, "exit_code": None, "ended_by": f"its timeout of {timeout_ms:,} ms"}
    if ending.limit is not None:
        value = getattr(limits, ending.limit)
        return {**whole, "exit_code": None, "ended_by": f"bash.limits.{ending.limit}, which is {value:,}"}
    if ending.lost:
        return {**whole, "ended_by": "a signal to the process that watches it"}
    return whole
