"""``bash`` of a workspace: how commands are confined, and their limits."""

from __future__ import annotations

from typing import Annotated, Literal

from ...engines.sandbox._limits import CommandLimits
from ...schema.constraints import Limits
from ...schema.records import Record, key

_Folder = Annotated[str, Limits(least=1)]
_Variable = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class BashConfig(Record):
    """How Bash runs commands in the workspace."""

    sandbox: Literal["auto", "required", "off"] = key(
        "auto: in a sandbox (bubblewrap on Linux, sandbox-exec on macOS) where this machine has one, else "
        "without one, which the tool's description says. required: not without one. off: without one.",
        default="auto",
    )
    network: bool = key("Whether commands in the sandbox may use the network.", default=False)
    git: bool = key(
        "Whether commands in the sandbox may change git's data: commits, branches, the index, an unfinished "
        "rebase whose steps run nothing. All else of git directories stays as it is.",
        default=False,
    )
    readable: tuple[_Folder, ...] = key(
        "Further files and folders that they may read, such as ~/.cargo.", default=()
    )
    environment: dict[_Variable, str] = key(
        "Further environment variables of commands. They get nothing else of the server's.",
        factory=dict,
        hidden=True,
    )
    limits: CommandLimits = key("Limits of each command.", factory=CommandLimits.initial)
