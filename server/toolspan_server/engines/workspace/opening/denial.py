"""Files that a call may not open because a rule denies them.

Rules are compared with the path of what is open, which the system gives for its descriptor, so that neither a
spelling nor a link nor an exchanged folder leads around them; and with the path that was asked for, so that a
file which is moved meanwhile stays denied.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ....common.call_patterns import Action, PathGlobs
from ....errors import ToolFailure
from .._limits import WorkspaceLimits
from .paths import Place, Root
from .protection import path_of

DENIED = "denied_by_rule"
"""The ``error_code`` of a call on a file that a rule denies."""

_REASON = "a rule of the config denies it"
Identity = tuple[int, int]


class PathRule(NamedTuple):
    """What becomes of the files that ``globs`` mean, or of all where there are none."""

    action: Action
    globs: PathGlobs | None
    reason: str


@dataclass(slots=True)
class DeniedPaths:
    """What ``rules`` deny to one call in the folders ``roots``; the first rule that means a file counts.

    Where files have several names (hard links), all names of a denied file are denied. Looking for them costs
    a walk within ``limits``.
    """

    rules: Sequence[PathRule] = ()
    roots: Sequence[Root] = ()
    limits: WorkspaceLimits = field(default_factory=WorkspaceLimits.initial)
    _linked: frozenset[Identity] | None = None

    def __bool__(self) -> bool:
        return any(rule.action == "deny" for rule in self.rules)

    def reason(self, path: str) -> str | None:
        """Why the file or folder with the real path ``path`` is denied; ``None``: it is not."""
        for rule in self.rules:
            exact = rule.action == "allow"
            if rule.globs is None or (rule.globs.cover(path) if exact else rule.globs.touch(path)):
                return (rule.reason or _REASON) if rule.action == "deny" else None
        return None

    def is_closed(self, path: str) -> bool:
        """Whether the folder ``path`` is denied with all that is in it: no rule before may except a part."""
        first = next((at for at, rule in enumerate(self.rules) if rule.action != "deny"), len(self.rules))
        denying = [rule for rule in self.rules[:first] if rule.action == "deny"]
        return any(rule.globs is None or rule.globs.touch(path) for rule in denying)

    def check_asked(self, place: Place) -> None:
        """Raise ``ToolFailure`` when the path that was asked for is denied, whatever is there."""
        if self:
            self._check(place, self._written(place))

    def check_open(self, place: Place, descriptor: int) -> None:
        """Raise ``ToolFailure`` when what is open at ``place`` is denied."""
        if not self:
            return
        found = os.fstat(descriptor)
        path = self._real(place, descriptor)
        if stat.S_ISDIR(found.st_mode):
            if self.is_closed(path):
                raise denied(place, self.reason(path) or _REASON)
            return
        self._check(place, path)
        if found.st_nlink > 1 and (found.st_dev, found.st_ino) in self._denied_links(place):
            raise denied(place, f"it is another name (hard link) of a file that a rule denies: {_REASON}")

    def check_change(self, place: Place, folder: int) -> None:
        """Raise ``ToolFailure`` when the file at ``place``, which lies in the open ``folder``, is denied."""
        if self:
            self._check(place, str(Path(self._real(place, folder), place.parts[-1])))

    def judge(self, place: Place, folder: int, entry: os.DirEntry[str]) -> tuple[bool, bool]:
        """Whether ``entry`` of the open ``folder`` at ``place`` is denied, and with all that is in it."""
        if not self:
            return False, False
        path = str(Path(self._real(place, folder), entry.name))
        is_closed = self.is_closed(path)
        if is_closed or self.reason(path) is not None:
            return True, is_closed
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            linked = found.st_nlink > 1 and (found.st_dev, found.st_ino) in self._denied_links(place)
            return linked, False
        return False, False

    def existing(self) -> list[str]:
        """The real paths of all that is denied in the roots, a folder for all that is in it.

        Raises ``ToolFailure`` when there is too much to look through.
        """
        if not self:
            return []
        found, linked, several = self._walked()
        closed = tuple(f"{path}/" for path in found)
        others = [path for each in linked for path in several[each] if not path.startswith(closed)]
        return list(dict.fromkeys((*found, *others)))

    def _check(self, place: Place, path: str) -> None:
        if (reason := self.reason(path)) is not None:
            raise denied(place, reason)

    def _written(self, place: Place) -> str:
        """The path that was asked for: its links are not followed below the root."""
        return str(Path(os.path.realpath(self.roots[place.root].path), *place.parts))

    def _real(self, place: Place, descriptor: int) -> str:
        found = path_of(descriptor)
        if found is None:
            raise ToolFailure(
                f"{place.shown} is not opened: rules deny some files, and the system does not tell which one "
                "this is",
                error_code=DENIED,
                user_action="Ask the person to mount /proc, or to remove the rules about paths.",
            )
        return str(found)

    def _denied_links(self, place: Place) -> frozenset[Identity]:
        if self._linked is None:
            try:
                self._linked = self._walked()[1]
            except ToolFailure as failure:
                raise denied(place, f"it has several names (hard links), and {failure.error}") from None
        return self._linked

    def _walked(self) -> tuple[list[str], frozenset[Identity], dict[Identity, list[str]]]:
        """What is denied; the files among that which have several names; the names of all such files."""
        denied_paths: list[str] = []
        linked: set[Identity] = set()
        names: dict[Identity, list[str]] = {}
        for entry, above in self._entries():
            is_denied = above or self.reason(entry.path) is not None
            if (
                is_denied
                and not above
                and (not entry.is_dir(follow_symlinks=False) or self.is_closed(entry.path))
            ):
                denied_paths.append(entry.path)
            if entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                if found.st_nlink > 1:
                    identity = (found.st_dev, found.st_ino)
                    names.setdefault(identity, []).append(entry.path)
                    if is_denied:
                        linked.add(identity)
        return denied_paths, frozenset(linked), names

    def _entries(self) -> Iterator[tuple[os.DirEntry[str], bool]]:
        """All that is in the roots, each with whether it lies in a folder that is denied as a whole."""
        ends, left = time.monotonic() + self.limits.seconds, self.limits.entries
        waiting = [(os.path.realpath(root.path), False) for root in self.roots]
        while waiting:
            folder, above = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = list(entries)
            except OSError:
                continue  # what the server cannot list, its commands cannot either
            left -= len(listed)
            if left < 0 or time.monotonic() > ends:
                raise _too_much(self.limits)
            for entry in listed:
                yield entry, above
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, above or self.is_closed(entry.path)))


def denied(place: Place, reason: str) -> ToolFailure:
    """The failure of a call on a file that a rule denies."""
    return ToolFailure(
        f"{place.shown} is denied: {reason}",
        error_code=DENIED,
        user_action="Do not try again unless the person changes approvals.rules in the config.",
    )


def _too_much(limits: WorkspaceLimits) -> ToolFailure:
    return ToolFailure(
        "there are too many files to find those that rules deny: limits.entries is "
        f"{limits.entries:,}, limits.seconds {limits.seconds:g}",
        error_code="too_large",
        user_action="Raise limits.entries and limits.seconds of the workspace in the config.",
    )
