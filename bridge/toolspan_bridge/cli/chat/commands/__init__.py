"""The commands of the chat: a module each in one of the groups here, with its ``COMMAND``; the module's name
is the command's."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import cast

from toolspan_server.common.did_you_mean import nearest

from ....errors import UsageError
from ..command import Command

__all__ = ["GROUPS", "command_names", "commands", "find_command"]

GROUPS = {
    "talk": "the conversation",
    "answers": "how it is answered",
    "tools": "tools and servers",
    "workspace": "the workspace",
}
"""The groups, as ``/help`` lists them: the package's name, and its heading."""

_ALIASES = {"exit": "quit", "new": "clear"}


@cache
def _groups() -> dict[str, str]:
    """The group of each command."""
    return {
        module.name: group
        for group in GROUPS
        for module in pkgutil.iter_modules([f"{path}/{group}" for path in __path__])
    }


def command_names() -> list[str]:
    """The names of all commands, without ``/``, sorted."""
    return sorted((*_groups(), *_ALIASES))


def find_command(name: str) -> Command:
    """The command ``name``, or the one whose name begins so. Raises ``UsageError`` when there is none, or
    more than one."""
    names = command_names()
    begin = {_ALIASES.get(each, each) for each in names if each.startswith(name)} if name else set[str]()
    found = {_ALIASES.get(name, name)} if name in names else begin
    if len(found) == 1:
        return _command(found.pop())
    if found:
        several = ", ".join(f"/{each}" for each in sorted(found))
        raise UsageError(f"/{name} may be {several}: write more of it")
    hint = nearest(name, names).replace("'", "/", 1).replace("'", "", 1)
    raise UsageError(
        f"there is no command /{name} ({hint}); a question that begins with / has a blank before it"
    )


def commands(group: str) -> list[Command]:
    """Every command of ``group``."""
    return [_command(name) for name in sorted(_groups()) if _groups()[name] == group]


def _command(name: str) -> Command:
    return cast("Command", import_module(f"{__name__}.{_groups()[name]}.{name}").COMMAND)
