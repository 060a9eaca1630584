"""The tools that a preset enables: by their names when it is written, and as tools when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import UsageError
from ..formats import builtin_names, format_names
from ..messages import ToolSpec
from .calculator import CALCULATOR

WEB_SEARCH = "web_search"
DEFAULT_TOOLS = (WEB_SEARCH, CALCULATOR)
"""What a preset enables that does not say."""


class EnabledTools(NamedTuple):
    """The servers' tools, by their names, and the tools of the provider's own."""

    allowed: tuple[str, ...]
    builtins: tuple[str, ...]


def builtin_tools() -> tuple[str, ...]:
    """The tools that a preset may enable whatever servers there are: the calculator, and those that
    providers run themselves."""
    providers = {name for each in format_names() for name in builtin_names(each)}
    return tuple(sorted({*DEFAULT_TOOLS, *providers}))


def checked_tools(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """``names``, each once. Raises ``UsageError`` when there are none, or one is neither built in nor in
    ``known``, the tools of servers."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        raise UsageError("At least one tool must be enabled")
    there = {*builtin_tools(), *known}
    for name in wanted:
        if name not in there:
            raise UsageError(f"Unknown tool: {name}")
    return wanted


def resolved(names: Iterable[str], tools: Sequence[ToolSpec]) -> EnabledTools:
    """What ``names`` are among ``tools``; one that is not there is the provider's, if any provider has it.

    Raises ``UsageError`` for any other.
    """
    there = {tool.name for tool in tools}
    providers = {name for each in format_names() for name in builtin_names(each)} | {WEB_SEARCH}
    allowed: list[str] = []
    builtins: list[str] = []
    for name in names:
        if name in there:
            allowed.append(name)
        elif name in providers:
            builtins.append(name)
        else:
            raise UsageError(f"Tool {name} is not available")
    return EnabledTools(tuple(allowed), tuple(builtins))
