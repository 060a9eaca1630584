"""Patterns over the name, the server, the arguments and the files of a call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

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

from .mentions import Doubt, MentionedFiles, is_plain_path, readings, texts_in

__all__ = [
    "COMMAND_ARGUMENT",
    "PATH_ARGUMENTS",
    "RE2_PREFIX",
    "CallFiles",
    "Pattern",
    "RuledCall",
    "names_tool",
]

_SEARCHES = ("Glob", "Grep")


@dataclass(frozen=True, slots=True)
class CallFiles:
    """Where the paths in a tool's arguments begin: ``folder``, or one of the further ``roots``.

    ``works_as`` is the tool of our own workspaces that it is; empty for any other. Those read paths as
    ``toolspan_server.common.path_spelling`` writes them, and open no file that a rule denies. How any other
    tool reads its arguments is not known: see ``mentions``.
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
        try:
            return os.path.realpath(self.folder / (unquoted(text) if self.works_as else text))
        except (ValueError, OSError):
            return None

    def real_paths(self, text: str) -> list[str]:
        """The paths without links that ``text`` may stand for."""
        written = [text] if self.works_as else readings(text)[0]
        return [path for each in written if (path := self.real_path(each)) is not None]


class Pattern(CallPattern):
    """Which calls are meant: all that is given has to hold."""

    def covers(self, server: str, tool: str, arguments: Mapping[str, Any], files: CallFiles) -> bool:
        """Whether all of the call is meant, as it has to be to be allowed.

        Every path has to lie in ``paths``, and ``*`` in the pattern of a ``command`` stands for no character
        by which a shell would run another one. Of a tool that is not ours every text may be a path, unless
        its argument has a pattern here.
        """
        return self.covers_call(RuledCall(server, tool, arguments, files))

    def touches(
        self, server: str, tool: str, arguments: Mapping[str, Any], files: CallFiles, *, below: bool = False
    ) -> bool:
        """Whether any of the call is meant, which is enough to deny it or to ask.

        A path that cannot be read may be any. ``below``: a search in a folder above counts too.
        """
        return self.touches_call(RuledCall(server, tool, arguments, files), below=below) == "yes"

    def covers_call(self, call: RuledCall) -> bool:
        """As ``covers``."""
        if not self.names(call.server, call.tool) or not self.holds(call.arguments, narrow=True):
            return False
        if call.files.works_as and not all(
            any(matches_text(pattern, form) for form in call.forms(name))
            for name, pattern in self.arguments.items()
            if name in PATH_ARGUMENTS
        ):
            return False
        if self.paths is None:
            return True
        globs = PathGlobs(self.paths, [call.files.folder])
        if not call.named or not all(each is not None and globs.cover(each) for each in call.named):
            return False
        return bool(call.files.works_as) or all(
            text is not None and is_plain_path(text) and all(map(globs.cover, call.both_real(text)))
            for text in call.texts_besides({*self.arguments} - {*PATH_ARGUMENTS})
        )

    def touches_call(self, call: RuledCall, *, below: bool = False) -> Doubt:
        """As ``touches``, and ``perhaps`` where nobody can tell."""
        if not self.names(call.server, call.tool):
            return "no"
        if not all(
            name in call.arguments
            and (self._matches(call, name) or any(matches_text(pattern, form) for form in call.forms(name)))
            for name, pattern in self.arguments.items()
        ):
            return "no"
        if self.paths is None:
            return "yes"
        if not call.files.works_as:
            return call.mentioned.are_of(self.paths)
        globs = PathGlobs(self.paths, [call.files.folder, *call.files.roots])
        judge = globs.reach_below if below and call.files.searches else globs.touch
        return "yes" if any(each is None or judge(each) for each in call.named) else "no"

    def _matches(self, call: RuledCall, name: str) -> bool:
        return CallPattern(arguments={name: self.arguments[name]}).holds(call.arguments, narrow=False)


@dataclass(frozen=True)
class RuledCall:
    """A call as rules are compared with it: the tool gets ``arguments`` and reads paths as ``files`` says."""

    server: str
    tool: str
    arguments: Mapping[str, Any]
    files: CallFiles

    @cached_property
    def named(self) -> list[str | None]:
        """The real paths that the arguments which are paths name; ``None`` is a text that cannot be read as
        one."""
        given = [self.arguments.get(name) for name in PATH_ARGUMENTS]
        found = [self.files.real_path(text) for text in given if isinstance(text, str) and text]
        return found or ([os.path.realpath(self.files.folder)] if self.files.searches else [])

    @cached_property
    def mentioned(self) -> MentionedFiles:
        """What any argument may name."""
        return MentionedFiles(self.arguments, [self.files.folder, *self.files.roots])

    def texts_besides(self, names: set[str]) -> list[str | None]:
        """The texts in all arguments but ``names``; ``None`` among them: there are more, too deep inside."""
        return list(texts_in({name: each for name, each in self.arguments.items() if name not in names}))

    def both_real(self, text: str) -> list[str]:
        """The real path of ``text``, with ``..`` taken after links are followed and before."""
        written = (text, os.path.normpath(text))
        return [os.path.realpath(self.files.folder / each) for each in written]

    def forms(self, name: str) -> list[str]:
        """The argument ``name``, if it is a path, as it is written in rules: relative and absolute."""
        text = self.arguments.get(name)
        if name not in PATH_ARGUMENTS or not isinstance(text, str):
            return []
        root = os.path.realpath(self.files.folder)
        found = self.files.real_paths(text)
        return [
            *found,
            *(os.path.relpath(each, root) for each in found if each.startswith(root.rstrip("/") + "/")),
        ]
