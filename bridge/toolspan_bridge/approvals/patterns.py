"""Patterns over the name, the server, the arguments and the files of a call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from toolspan_server.common.call_patterns import (
    COMMAND_ARGUMENT,
    PATH_ARGUMENTS,
    RE2_PREFIX,
    CallPattern,
    PathGlobs,
    matches_text,
    names_tool,
)
from toolspan_server.common.path_spelling import unquoted

__all__ = ["COMMAND_ARGUMENT", "PATH_ARGUMENTS", "RE2_PREFIX", "CallFiles", "Pattern", "names_tool"]

_SEARCHES = ("Glob", "Grep")
_DEEPEST = 8
_LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class CallFiles:
    """Where the paths in a tool's arguments begin: ``folder``, or one of the further ``roots``.

    ``works_as`` is the tool of our own workspaces that it is; empty for any other. Those read paths as
    ``toolspan_server.common.path_spelling`` writes them, and open no file that a rule denies.
    """

    folder: Path
    roots: tuple[Path, ...] = ()
    works_as: str = ""

    @property
    def searches(self) -> bool:
        """Whether the tool looks into everything below its path, which may be left out."""
        return self.works_as in _SEARCHES

    def real_path(self, text: str) -> str | None:
        """The path without links that ``text`` names; ``None`` where it cannot be read as one."""
        return self._real(text, spelled=bool(self.works_as))

    def readings(self, text: str) -> list[str | None]:
        """The real paths that ``text`` may stand for, the most likely first."""
        if self.works_as:
            return [self.real_path(text)]
        found = [self._real(text), self._real(text, spelled=True)]
        found.append(self._real(os.path.expanduser(text)))  # noqa: PTH111 - a text, perhaps no path
        if text.startswith("file:"):
            found.append(self._real(unquote(urlsplit(text).path)))
        return list(dict.fromkeys(found))

    def _real(self, text: str, *, spelled: bool = False) -> str | None:
        try:
            return os.path.realpath(self.folder / (unquoted(text) if spelled else text))
        except (ValueError, OSError):
            return None


class Pattern(CallPattern):
    """Which calls are meant: all that is given has to hold."""

    def covers(self, server: str, tool: str, arguments: Mapping[str, Any], files: CallFiles) -> bool:
        """Whether all of the call is meant, as it has to be to be allowed.

        Every path has to lie in ``paths``, and ``*`` in the pattern of a ``command`` stands for no character
        by which a shell would run another one.
        """
        if not self.names(server, tool) or not self.holds(arguments, narrow=True):
            return False
        call = _Call(arguments, files)
        if files.works_as and not all(
            any(matches_text(pattern, form) for form in call.forms(name))
            for name, pattern in self.arguments.items()
            if name in PATH_ARGUMENTS
        ):
            return False
        if self.paths is None:
            return True
        globs = PathGlobs(self.paths, [files.folder])
        return bool(call.named) and all(each is not None and globs.cover(each) for each in call.named)

    def touches(
        self, server: str, tool: str, arguments: Mapping[str, Any], files: CallFiles, *, below: bool = False
    ) -> bool:
        """Whether any of the call is meant, which is enough to deny it or to ask.

        A path that cannot be read may be any. ``below``: a search in a folder above counts too.
        """
        if not self.names(server, tool):
            return False
        call = _Call(arguments, files)
        if not all(
            name in arguments
            and (
                self._matches(arguments, name)
                or any(matches_text(pattern, form) for form in call.forms(name))
            )
            for name, pattern in self.arguments.items()
        ):
            return False
        if self.paths is None:
            return True
        globs = PathGlobs(self.paths, [files.folder, *files.roots])
        if below and files.searches:
            return any(each is None or globs.reach_below(each) for each in call.named)
        return any(each is None or globs.touch(each) for each in call.mentioned)

    def _matches(self, arguments: Mapping[str, Any], name: str) -> bool:
        return CallPattern(arguments={name: self.arguments[name]}).holds(arguments, narrow=False)


class _Call:
    """The files that a call works on, as real paths; ``None`` is a text that cannot be read as one."""

    def __init__(self, arguments: Mapping[str, Any], files: CallFiles) -> None:
        self._arguments = arguments
        self._files = files

    @cached_property
    def named(self) -> list[str | None]:
        """What the arguments that are paths name."""
        given = [self._arguments.get(name) for name in PATH_ARGUMENTS]
        found = [self._files.real_path(text) for text in given if isinstance(text, str) and text]
        return found or ([os.path.realpath(self._files.folder)] if self._files.searches else [])

    @cached_property
    def mentioned(self) -> list[str | None]:
        """What any argument may name: of a tool that is not ours nobody knows which of them are paths, nor
        how it reads them."""
        if self._files.works_as:
            return self.named
        written = {text for text in _texts(self._arguments) if _may_be_path(text, self._files.folder)}
        written |= {
            text for name in PATH_ARGUMENTS if isinstance(text := self._arguments.get(name), str) and text
        }
        return [path for text in sorted(written) for path in self._files.readings(text)]

    def forms(self, name: str) -> list[str]:
        """The argument ``name``, if it is a path, as it is written in rules: relative and absolute."""
        text = self._arguments.get(name)
        if name not in PATH_ARGUMENTS or not isinstance(text, str):
            return []
        root = os.path.realpath(self._files.folder)
        found = [each for each in self._files.readings(text) if each is not None]
        return [
            *found,
            *(os.path.relpath(each, root) for each in found if each.startswith(root.rstrip("/") + "/")),
        ]


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for each in cast("Mapping[str, Any]", value).values():
            yield from _texts(each, depth + 1)
    elif depth < _DEEPEST and isinstance(value, Sequence):
        for each in cast("Any", value):
            yield from _texts(each, depth + 1)


def _may_be_path(text: str, folder: Path) -> bool:
    """Whether ``text`` looks like a path, or is one."""
    if not text or len(text) > _LONGEST or "\n" in text:
        return False
    if "/" in text or text.startswith("~"):
        return True
    try:
        return os.path.lexists(folder / text)
    except (ValueError, OSError):
        return False
