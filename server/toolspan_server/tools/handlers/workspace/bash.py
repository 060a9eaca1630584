"""``Bash``: a shell command in the workspace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ....calls.content import Content
from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters
from ._commands import denied_to, ended, named_otherwise, put_aside, runner_of, told_opened
from ._planning import not_run_while_planning
from ._tool import Definition, Options, references, workspace_of

if TYPE_CHECKING:
    from ....engines.definitions.call_preview import CallPreview
    from ....engines.sandbox import CommandLimits
    from ...services._workspaces import Workspaces

_SPARE_MS = 30_000
_LONGEST_MS = 3_600_000


async def _describe(definition: Definition, workspaces: Workspaces, name: str) -> Definition:
    """Say in the definition what confines commands, for the person who allows them and for programs."""
    runner = workspaces.runner(name)
    report = await runner.describe()
    kind = report["kind"]
    if kind == "none":
        told = (
            f"Commands run WITHOUT a sandbox ({report['why']}): they can do whatever the server's user can. "
            "A person is asked each time."
        )
    else:
        network = "can use the network" if report["network"] else "have no network"
        told = (
            f"Commands run in a sandbox ({kind}): they change files only in {', '.join(report['writable'])} "
            f"and a temporary folder, see no files of people elsewhere, and {network}. What other programs "
            "obey (.git, .vscode, .github and the like) stays as it is."
        )
    return replace(
        definition,
        description=f"{definition.description} {told}",
        tags=(f"sandbox:{kind}", f"network:{'on' if report.get('network', True) else 'off'}"),
        always_asks=kind == "none" and workspaces.configs[name].bash.sandbox != "required",
        timeout_ms=min(runner.limits.max_timeout_ms + _SPARE_MS, _LONGEST_MS),
    )


DEFINITION = Definition(
    name="Bash",
    description=(
        "Run a shell command in the workspace's folder and return its output. Each starts a new shell. "
        "Processes that it leaves running end with it: for servers and the like use run_in_background, then "
        "BashOutput and KillShell."
    ),
    properties={
        "command": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100_000,
            "description": "The command, as bash -c takes it",
        },
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "description": "Longest time in milliseconds; then the command is ended",
        },
        "description": {
            "type": "string",
            "maxLength": 1_000,
            "description": "What the command does, in a few words, for the person who allows it",
        },
        "run_in_background": {
            "type": "boolean",
            "description": "Return at once with a bash_id, and let the command go on",
        },
    },
    required=("command",),
    destructive=True,
    open_world=True,
    approval=True,
    describe=_describe,
)


_SHOWN = frozenset(("command", "timeout", "description", "run_in_background"))


async def _preview(arguments: dict[str, Any], context: Context) -> CallPreview:
    from ....engines.definitions.call_preview import CallPreview, Section
    from ._previewing import with_rest

    runner = runner_of(context)
    report = await runner.describe()
    seconds = _seconds(arguments, runner.limits)
    background = arguments.get("run_in_background", False)
    after = f"{seconds:g} s, in the background: the call returns at once" if background else f"{seconds:g} s"
    sections = [
        Section("code", "command", arguments["command"]),
        Section("code", "run by", f"bash -c, in {workspace_of(context, arguments).path}"),
        Section("text", "sandbox", _confinement(report)),
        Section("text", "ended after", after),
    ]
    if "description" in arguments:
        sections.append(Section("text", "the model says of it", arguments["description"]))
    warnings = (_UNCONFINED,) if report["kind"] == "none" else ()
    made = CallPreview(tuple(sections), warnings=warnings, basis=json.dumps(report, sort_keys=True))
    return with_rest(made, arguments, _SHOWN)


_UNCONFINED = "It runs OUTSIDE of any sandbox: it can do whatever the user can that the server runs as."


def _confinement(report: Mapping[str, Any]) -> str:
    """What a command may reach, as the runner reports it."""
    if report["kind"] == "none":
        return f"none ({report['why']})"
    network = "with the network" if report["network"] else "no network"
    readable = f"; reads also {', '.join(report['readable'])}" if report["readable"] else ""
    writes = ", ".join(report["writable"])
    return f"{report['kind']}, {network}; writes only in {writes} and a temporary folder{readable}"


@handler("Bash", kind="internal", options=Options, references=references, preview=_preview)
@not_run_while_planning
async def bash(arguments: dict[str, Any], context: Context) -> dict[str, Any] | Content:
    """``{"command", "timeout"?, "description"?, "run_in_background"?}`` → ``{"output", "exit_code",
    "timed_out", "output_bytes", "ended_by"?, "sandbox", "put_aside"?}``; in the background ``{"bash_id",
    "status", "sandbox"}``.

    ``exit_code`` is null when a limit, which ``ended_by`` names, ended the command; 128 and the signal's
    number when a signal did.
    """
    runner = runner_of(context)
    text: str = arguments["command"]
    limits = runner.limits
    seconds = _seconds(arguments, limits)
    sandbox = (await runner.describe())["kind"]
    denied = [] if sandbox == "none" else await anyio.to_thread.run_sync(denied_to, context, arguments)
    opened = await anyio.to_thread.run_sync(named_otherwise, workspace_of(context, arguments), text)
    if arguments.get("run_in_background", False):
        start = partial(runner.start, text, seconds, denied)
        shell = await runner.background.start(context.caller, text, start)
        return told_opened({"bash_id": shell.id, "status": "running", "sandbox": sandbox}, opened)
    ending, command = await runner.run(text, seconds, denied)
    result = {
        "output": command.output.take(),
        **ended(ending, limits, round(seconds * 1000)),
        "output_bytes": command.output.total,
        "sandbox": sandbox,
        **put_aside(command),
    }
    return told_opened(result, opened)


def _seconds(arguments: Mapping[str, Any], limits: CommandLimits) -> float:
    """After how long the command is ended. Raises ``InvalidParameters`` for a call that cannot be made."""
    if "\0" in arguments["command"]:
        raise InvalidParameters(["command must not hold a NUL character"])
    if arguments.get("run_in_background", False):
        wanted: int = arguments.get("timeout", limits.background_timeout_ms)
        return min(limits.background_timeout_ms, wanted) / 1000
    asked: int = arguments.get("timeout", min(limits.timeout_ms, limits.max_timeout_ms))
    if asked > limits.max_timeout_ms:
        raise InvalidParameters(
            [f"timeout must be at most {limits.max_timeout_ms} (bash.limits.max_timeout_ms), not {asked}"]
        )
    return asked / 1000
