"""Patterns over tool calls: the server, the tool, its arguments, and the files that it works on.

Both halves use them: a client decides by them which calls are made, the server of a workspace which files it
opens. Paths are compared as real paths, absolute and without links, never as somebody wrote them.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

RE2_PREFIX = "re:"
PATH_ARGUMENTS = ("file_path", "notebook_path", "path")
"""Arguments that are paths, by the names that tools give them."""

COMMAND_ARGUMENT = "command"
_OF_ONE_COMMAND = r"[^;&|`$<>(){}\r\n\\]"
_ANY = r"(?s:.)"
_WILD = re.compile(r"\*\*/|\*\*|\*|\?")
_SURROGATE = re.compile("[\ud800-\udfff]")

Action = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class CallPattern:
    """The calls that are meant, as far as no file is looked at: all that is given has to hold.

    ``tools`` and ``servers`` are globs; a tool is also ``server/name``. ``arguments`` has a glob of the whole
    text of each named argument, or ``re:`` and an RE2 pattern to search in it; what is no text is its JSON.
    ``paths`` are globs (``src/**``) of the files that the call works on.
    """

    tools: Sequence[str] | None = None
    servers: Sequence[str] | None = None
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: Sequence[str] | None = None

    def names(self, server: str, tool: str) -> bool:
        """Whether the call is one of ``tools`` of one of ``servers``."""
        by_server = self.servers is None or any(fnmatchcase(server, glob) for glob in self.servers)
        return by_server and (self.tools is None or names_tool(self.tools, server, tool))

    def holds(self, arguments: Mapping[str, Any], *, narrow: bool) -> bool:
        """Whether each argument matches its pattern.

        In a ``narrow`` match ``*`` in the pattern of a ``command`` stands for no character by which a shell
        would run a second command.
        """
        return all(
            name in arguments
            and matches_text(pattern, text_of(arguments[name]), narrow=narrow and name == COMMAND_ARGUMENT)
            for name, pattern in self.arguments.items()
        )


LONGEST_GLOB = 300
"""The most characters of a glob of tools' names."""


@dataclass(frozen=True, slots=True)
class CallRule:
    """What becomes of the calls that ``pattern`` means, and the ``reason`` that a model is told."""

    action: Action
    pattern: CallPattern
    reason: str = ""


def names_tool(globs: Iterable[str], server: str, tool: str) -> bool:
    """Whether one of ``globs`` is of ``tool`` or ``server/tool``. One that is longer than ``LONGEST_GLOB`` is
    of none: it takes long to read, and no tool has such a name."""
    names = (tool, f"{server}/{tool}")
    return any(len(glob) <= LONGEST_GLOB and fnmatchcase(name, glob) for glob in globs for name in names)


def text_of(value: Any) -> str:
    """An argument as patterns see it."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def matches_text(pattern: str, text: str, *, narrow: bool = False) -> bool:
    """Whether ``text`` matches ``pattern``, a glob of all of it, or ``re:`` and RE2 to search in it."""
    if pattern.startswith(RE2_PREFIX):
        return bool(_compiled(pattern.removeprefix(RE2_PREFIX)).search(_encodable(text)))
    wild = _OF_ONE_COMMAND if narrow else _ANY
    return text == pattern or bool(_compiled(_translated(pattern, wild, wild)).fullmatch(_encodable(text)))


class PathGlobs:
    """Globs of paths, ready to be compared with real paths.

    Relative ones begin at ``folders``, the first of which is the workspace or the folder of the config. ``*``
    stays in its folder, ``**`` does not.
    """

    def __init__(self, globs: Sequence[str], folders: Sequence[str | Path]) -> None:
        real = [os.path.realpath(folder) for folder in folders]
        self._exact = [_Glob.of(glob, folder) for glob in globs for folder in real[:1]]
        self._wide = list(dict.fromkeys(_Glob.of(glob, folder) for glob in globs for folder in real))
        self._wide += [followed for each in self._wide if (followed := each.followed()) != each]

    def cover(self, path: str) -> bool:
        """Whether the file is meant exactly, as it has to be to be allowed."""
        return any(glob.matches(path) for glob in self._exact)

    def touch(self, path: str) -> bool:
        """Whether the file may be meant, which is enough to deny it or to ask.

        Relative globs begin at each of the folders, globs are also read with their links followed, a folder
        that is meant is meant with all that is in it, and ``dir/**`` means ``dir`` too. Spellings of Unicode
        do not differ, nor do upper and lower case where the file system does not tell them apart.
        """
        path = unicodedata.normalize("NFC", path)
        if any(glob.contains(path) for glob in self._wide):
            return True
        return any(glob.contains(path, fold=True) for glob in self._wide) and _folds_case(path)

    def reach_below(self, folder: str) -> bool:
        """Whether something in ``folder`` may be meant."""
        return self.touch(folder) or any(glob.reaches_below(folder) for glob in self._wide)


@dataclass(frozen=True, slots=True)
class _Glob:
    """An absolute glob: ``literal`` is the path before its first part with a wildcard, ``rest`` what comes
    after."""

    literal: str
    rest: str

    @classmethod
    def of(cls, glob: str, folder: str) -> _Glob:
        written = os.path.expanduser(glob) if glob.startswith("~") else glob  # noqa: PTH111 - as it is written
        parts = [part for part in written.split("/") if part not in ("", ".")]
        wild = next((at for at, part in enumerate(parts) if _WILD.search(part)), len(parts))
        start = "/" if written.startswith("/") else folder
        literal = os.path.normpath(Path(start, *parts[:wild]))
        return cls(literal, "/".join(parts[wild:]))

    def followed(self) -> _Glob:
        """The glob with the links of its literal part followed."""
        try:
            return _Glob(os.path.realpath(self.literal), self.rest)
        except ValueError:
            return self

    def matches(self, path: str) -> bool:
        if not self.rest:
            return path == self.literal
        start = self.literal.rstrip("/") + "/"
        pattern = _compiled(_translated(self.rest, "[^/]", _ANY))
        return path.startswith(start) and bool(pattern.fullmatch(_encodable(path[len(start) :])))

    def contains(self, path: str, *, fold: bool = False) -> bool:
        """Whether ``path``, or a folder above it, matches; both in NFC."""
        literal = unicodedata.normalize("NFC", self.literal).rstrip("/")
        rest = unicodedata.normalize("NFC", self.rest)
        if fold:
            literal, path = literal.casefold(), path.casefold()
        if path != literal and not path.startswith(literal + "/"):
            return False
        if not rest:
            return True
        below = path[len(literal) + 1 :]
        ends = [*(at for at, character in enumerate(below) if character == "/"), len(below)]
        pattern = _compiled(_translated(rest, "[^/]", _ANY), fold)
        starts = (_encodable(below[:end]) for end in ends)
        return any(pattern.fullmatch(each) or pattern.fullmatch(each + "/") for each in starts if each) or (
            rest == "**"
        )

    def reaches_below(self, folder: str) -> bool:
        above, literal = (each.rstrip("/").casefold() + "/" for each in (folder, self.literal))
        return literal.startswith(above) or (bool(self.rest) and above.startswith(literal))


def _folds_case(path: str) -> bool:
    """Whether the file system takes ``path`` in other letters, in some part of it, as the same."""
    current = path
    while current != "/" and current:
        above, name = os.path.split(current)
        other = name.swapcase()
        if other != name:
            try:
                here, there = os.lstat(current), os.lstat(f"{above}/{other}")
            except (OSError, ValueError):
                pass
            else:
                if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino):
                    return True
        current = above
    return False


def _translated(glob: str, wild: str, deep: str) -> str:
    """``glob`` as an RE2 pattern; ``*`` is any number of ``wild``, ``**`` of ``deep``."""
    known = {"**/": f"(?:{deep}*/)?", "**": f"{deep}*", "*": f"{wild}*", "?": wild}
    pieces: list[str] = []
    end = 0
    for found in _WILD.finditer(glob):
        pieces += [re.escape(glob[end : found.start()]), known[found.group()]]
        end = found.end()
    return "".join([*pieces, re.escape(glob[end:])])


def _encodable(text: str) -> str:
    """``text`` without the surrogates that stand for bytes of file names, which RE2 does not take."""
    return _SURROGATE.sub("\ufffd", text)


@lru_cache(maxsize=512)
def _compiled(source: str, ignore_case: bool = False) -> Any:
    from .re2_patterns import compiled

    return compiled(_encodable(source), ignore_case=ignore_case)
