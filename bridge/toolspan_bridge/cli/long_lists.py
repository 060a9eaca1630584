"""Lists that are too long for a terminal: what is in them in short there, all of them elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import click

from .terminal.output import print_note

__all__ = ["MOST", "Group", "all_option", "grouped", "is_too_long", "note_how_to_see_all"]

MOST = 50
"""The most entries of a list that a terminal is shown one by one."""
_NAMED = 3

all_option = click.option(
    "--all",
    "show_all",
    is_flag=True,
    help=f"At a terminal too, print each entry of a list of more than {MOST}, not their counts.",
)


@dataclass(frozen=True, slots=True)
class Group:
    """The entries of a list that have ``key`` in common: how many they are, and the names of the first."""

    key: tuple[str, ...]
    count: int
    such_as: str


def is_too_long(count: int, *, show_all: bool, file: IO[str] | None = None) -> bool:
    """Whether ``file``, stdout by default, is a terminal that is not shown ``count`` entries one by one."""
    return count > MOST and not show_all and (file or sys.stdout).isatty()


def grouped(entries: Iterable[tuple[tuple[str, ...], str]]) -> list[Group]:
    """The groups of ``entries``, each a key and a name; the largest first."""
    names: dict[tuple[str, ...], list[str]] = {}
    for key, name in entries:
        names.setdefault(key, []).append(name)
    found = [Group(key, len(each), _first(each)) for key, each in names.items()]
    return sorted(found, key=lambda group: -group.count)


def note_how_to_see_all(count: int, what: str) -> None:
    """Say that ``count`` of ``what`` were shown in short, and how to see them."""
    print_note(f"{count} {what}, in short: --all shows each, --tool GLOB those of some tools")


def _first(names: list[str]) -> str:
    different = list(dict.fromkeys(names))
    more = ["…"] if len(different) > _NAMED else []
    return ", ".join(different[:_NAMED] + more)
