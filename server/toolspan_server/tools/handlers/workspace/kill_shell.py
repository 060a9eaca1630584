"""``KillShell``: ends a command in the background."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ._commands import runner_of
from ._planning import not_run_while_planning
from ._tool import Definition, Options, references

DEFINITION = Definition(
    name="KillShell",
    description="End a command that Bash started in the background, with every process that came of it.",
    properties={"shell_id": {"type": "string", "maxLength": 100, "description": "The id that Bash returned"}},
    required=("shell_id",),
    destructive=False,
    idempotent=True,
    sequential=True,
)


@handler("KillShell", kind="internal", options=Options, references=references)
@not_run_while_planning
async def kill_shell(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"shell_id"}`` → ``{"shell_id", "ended": whether it still ran}``; BashOutput has the rest of its
    output."""
    shell = runner_of(context).background.get(context.caller, arguments["shell_id"])
    ran = shell.runs
    await shell.command.end()
    return {"shell_id": shell.id, "ended": ran}
