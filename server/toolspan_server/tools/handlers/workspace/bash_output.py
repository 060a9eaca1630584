"""``BashOutput``: what a command in the background has written since the last time."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....common.re2_patterns import compiled
from ....engines.registration import handler
from ....errors import InvalidParameters
from ._commands import ended, put_aside, runner_of
from ._tool import Definition, Options, references

_PATTERN_MEMORY = 8 * 1024**2

DEFINITION = Definition(
    name="BashOutput",
    description=(
        "Return what a command that Bash started in the background has written since the last BashOutput, "
        "and whether it still runs."
    ),
    properties={
        "bash_id": {"type": "string", "maxLength": 100, "description": "The id that Bash returned"},
        "filter": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "Regular expression (RE2): only lines that match are returned; others are dropped",
        },
    },
    required=("bash_id",),
    read_only=True,
)


@handler("BashOutput", kind="internal", options=Options, references=references)
async def bash_output(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"bash_id", "filter"?}`` → ``{"output", "status": "running" | "ended", "output_bytes"}`` and, when it
    has ended, ``exit_code``, ``timed_out`` and ``ended_by``."""
    runner = runner_of(context)
    pattern = None
    if "filter" in arguments:
        try:
            pattern = compiled(arguments["filter"], max_memory=_PATTERN_MEMORY)
        except ValueError as error:
            raise InvalidParameters([f"filter is not an RE2 pattern: {error}"]) from None
    command = runner.background.get(context.caller, arguments["bash_id"]).command
    ending = command.ending
    output = command.output.take(whole=ending is not None)
    if pattern is not None:
        output = "".join(line for line in output.splitlines(keepends=True) if pattern.search(line))
    state: dict[str, Any] = {"output": output, "status": "running" if ending is None else "ended"}
    if ending is not None:
        state |= ended(ending, runner.limits, runner.limits.background_timeout_ms) | put_aside(command)
    return {**state, "output_bytes": command.output.total}
