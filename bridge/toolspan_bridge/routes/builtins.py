"""The providers' own tools that rules and options name."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UsageError
from ..formats import builtin_names, format_names


def unknown_builtins(names: Iterable[str]) -> list[str]:
    """What is wrong with ``names`` of providers' own tools: each that no format can switch on."""
    wanted = list(names)
    known = sorted({name for each in format_names() for name in builtin_names(each)}) if wanted else []
    there = ", ".join(known)
    return [
        f"no provider has a built-in tool {name!r} (known: {there})" for name in wanted if name not in known
    ]


def check_builtins(names: Iterable[str]) -> None:
    """Raises ``UsageError`` when no provider has one of the built-in tools ``names``."""
    if problems := unknown_builtins(names):
        raise UsageError("; ".join(problems))
