"""What the tools that run commands have in common: how they find the runner, how an ending reads."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ....calls.content import Content
from ....calls.context import Context
from ....parts.reach import OPENED_META
from ._tool import SERVICE, Options, workspace_of

if TYPE_CHECKING:
    from ....engines.sandbox import Command, CommandLimits, CommandRunner, Ending
    from ....engines.workspace import Workspace
    from ...services._workspaces import Workspaces

_MOST_TOLD = 20
_MOST_WORDS = 2_000
_MOST_FOLDERS = 10
_MOST_OPENED = 1_000
_LONGEST_PATH = 4_096
_WORD = re.compile(r"[^\s'\"`;&|<>(){}=,$@:]++")
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


def told_opened(result: dict[str, Any], opened: list[str]) -> dict[str, Any] | Content:
    """``result``, with the paths ``opened`` for the client where there are some."""
    if not opened:
        return result
    text = {"type": "text", "text": json.dumps(result, ensure_ascii=False, separators=(",", ":"))}
    return Content((text,), result, {OPENED_META: opened})


def named_otherwise(workspace: Workspace, command: str) -> list[str]:
    """The paths, without links, of files and folders of ``workspace`` that words of ``command`` name by a
    link, or with the shell's quotes and escapes; also in a folder that another word names. Blocks."""
    words = list(dict.fromkeys(_words(command)))[:_MOST_WORDS]
    folder = os.path.realpath(workspace.path)
    folders = [folder, *(path for word in words if (path := _below(folder, word)) and Path(path).is_dir())]
    found: dict[str, None] = {}
    for each in folders[:_MOST_FOLDERS]:
        for word in words:
            path = _below(each, word)
            if path and os.path.lexists(path):
                with suppress(OSError):  # a link that is exchanged meanwhile
                    real = os.path.realpath(path)
                    if word not in command or real != _below(folder, word):
                        found[workspace.relative(Path(real))] = None
    return [*found][:_MOST_OPENED]


def _words(command: str) -> Iterator[str]:
    yield from _WORD.findall(command)
    parts = shlex.shlex(command, posix=True, punctuation_chars=True)
    parts.whitespace_split = True
    parts.commenters = ""
    try:
        for part in parts:
            yield from (part, *re.split(r"[=:@,]", part))
    except ValueError:  # a quote that is not closed
        return


def _below(folder: str, word: str) -> str:
    """The path that ``word`` is in ``folder``; empty for what is none, and for the folder itself."""
    if not word or "\0" in word or len(word) > _LONGEST_PATH or not word.strip("./"):
        return ""
    return os.path.normpath(Path(folder, word))


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
