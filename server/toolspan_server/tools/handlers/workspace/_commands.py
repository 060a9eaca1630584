"""What the tools that run commands have in common: how they find the runner, how an ending reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ....calls.context import Context
from ._tool import SERVICE, Options, workspace_of

if TYPE_CHECKING:
    from ....engines.sandbox import Command, CommandLimits, CommandRunner, Ending
    from ...services._workspaces import Workspaces

_MOST_TOLD = 20
_BECAUSE = (
    "Commands may not make what other programs run or obey (protected, in the workspace's config). What the "
    "person made or saved of it while a command ran is put aside too, as nobody can tell whose it is: they "
    "rename it back. Ask them to look at it, or to take its name out of protected."
)


def runner_of(context: Context) -> CommandRunner:
    """What runs commands in the workspace of a call. Raises ``ToolFailure``."""
    workspaces: Workspaces = context.service(SERVICE)
    return workspaces.runner(cast("Options", context.options).workspace)


def denied_to(context: Context, arguments: Mapping[str, Any]) -> list[Path]:
    """What rules deny to a command: it is not there in the sandbox. Blocks. Raises ``ToolFailure``."""
    return [Path(each) for each in workspace_of(context, arguments).denied.existing()]


def put_aside(command: Command) -> dict[str, Any]:
    """``{"put_aside": […]}`` where the command made what other programs obey; else empty."""
    if not command.put_aside:
        return {}
    told = [*command.put_aside[:_MOST_TOLD], *(["…"] if len(command.put_aside) > _MOST_TOLD else [])]
    return {"put_aside": told, "put_aside_because": _BECAUSE}


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
