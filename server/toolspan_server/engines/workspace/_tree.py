"""Walks through the folders of a workspace, within a budget, leaving out what ``.gitignore`` files name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from ...common.state.folder import STATE_FOLDER
from ...errors import ToolFailure
from ._ignore import ALWAYS, IgnoreRules
from ._limits import WorkspaceLimits
from ._workspace import Workspace
from .opening.paths import Place

S = TypeVar("S")

_SKIPPED = ALWAYS | {STATE_FOLDER}


class Exhausted(Exception):
    """A limit was reached: its name and value."""


@dataclass(slots=True)
class Budget:
    """How much one search may do. ``spend`` counts an entry; it raises ``Exhausted`` beyond the limits.

    ``denied`` counts the files and folders that were left out because rules deny them.
    """

    limits: WorkspaceLimits
    stopped: Callable[[], bool] = lambda: False
    denied: int = 0
    _entries: int = 0
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.limits.seconds

    def spend(self) -> None:
        self._entries += 1
        if self._entries > self.limits.entries:
            raise Exhausted(f"limits.entries ({self.limits.entries:,})")
        self.check()

    def check(self) -> None:
        """Raise ``Exhausted`` when the time is over, or nobody waits for the result."""
        if time.monotonic() > self._ends:
            raise Exhausted(f"limits.seconds ({self.limits.seconds:g})")
        if self.stopped():
            raise Exhausted("the call was cancelled")


@dataclass(frozen=True, slots=True)
class Found(Generic[S]):
    """A file or folder that a walk came to, and the walk's state after its name."""

    place: Place
    is_folder: bool
    state: S


def walk(
    workspace: Workspace,
    start: Place,
    budget: Budget,
    *,
    state: S,
    step: Callable[[S, str], S],
    everything: bool = False,
) -> Iterator[Found[S]]:
    """What is in the folder ``start`` and below, each folder's entries by name.

    ``step`` gives the state after one more part of the path; a folder whose state is false is not entered.
    Links are found, not followed. With ``everything`` ignored files are found too. What rules deny is left
    out and counted. Folders that cannot be read are passed over, except ``start``. Raises
    ``ToolFailure``, and ``Exhausted``.
    """
    rules = IgnoreRules() if everything else _rules_above(workspace, start)
    waiting = [(start, rules, state)]
    while waiting:
        folder, rules, before = waiting.pop()
        try:
            rules, entries = _listed(workspace, folder, rules, budget, everything=everything)
        except ToolFailure:
            if folder is start:
                raise
            continue
        inner: list[tuple[Place, IgnoreRules, S]] = []
        for entry in entries:
            place = folder.below(entry.name)
            if (entry.is_folder and entry.name in _SKIPPED) or rules.ignores(
                place.parts, is_folder=entry.is_folder
            ):
                continue
            after = step(before, entry.name)
            if entry.is_denied:
                budget.denied += 1
            else:
                yield Found(place, entry.is_folder, after)
            if entry.is_folder and after and not entry.is_closed:
                inner.append((place, rules, after))
        waiting += reversed(inner)


class _Entry(NamedTuple):
    """An entry of a folder, whether rules deny it, and whether they deny all that is in it."""

    name: str
    is_folder: bool
    is_denied: bool
    is_closed: bool


def _listed(
    workspace: Workspace, folder: Place, rules: IgnoreRules, budget: Budget, *, everything: bool
) -> tuple[IgnoreRules, list[_Entry]]:
    descriptor = workspace.open_folder(folder)
    try:
        if not everything:
            rules = rules.entered(descriptor, len(folder.parts))
        entries: list[_Entry] = []
        with os.scandir(descriptor) as found:
            for entry in found:
                budget.spend()
                is_folder = entry.is_dir(follow_symlinks=False)
                entries.append(
                    _Entry(entry.name, is_folder, *workspace.denied.judge(folder, descriptor, entry))
                )
    finally:
        os.close(descriptor)
    return rules, sorted(entries)


def _rules_above(workspace: Workspace, start: Place) -> IgnoreRules:
    """The rules of the folders above ``start``, from its root on."""
    rules = IgnoreRules()
    for depth in range(len(start.parts)):
        descriptor = workspace.open_folder(Place(start.root, start.parts[:depth], start.prefix))
        try:
            rules = rules.entered(descriptor, depth)
        finally:
            os.close(descriptor)
    return rules
