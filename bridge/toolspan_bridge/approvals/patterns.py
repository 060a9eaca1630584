"""Patterns over the name, the server and the arguments of a call."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

RE2_PREFIX = "re:"
PATH_ARGUMENTS = ("file_path", "notebook_path", "path")
"""Arguments that are paths, by the names that tools give them."""

COMMAND_ARGUMENT = "command"
_OF_ONE_COMMAND = r"[^;&|`$<>(){}\r\n\\]"
_WILD = re.compile(r"\*\*/|\*\*|\*|\?")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which calls are meant: all that is given has to hold.

    ``tools`` and ``servers`` are globs; a tool is also ``server/name``. ``arguments`` has a glob of the whole
    text of each named argument, or ``re:`` and an RE2 pattern to search in it; what is no text is its JSON.
    ``paths`` are globs (``src/**``) that the arguments which are paths lie in, links followed.
    """

    tools: Sequence[str] | None = None
    servers: Sequence[str] | None = None
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: Sequence[str] | None = None

    def covers(self, server: str, tool: str, arguments: Mapping[str, Any], base: Path) -> bool:
        """Whether all of the call is meant, as it has to be to be allowed.

        Every path has to lie in ``paths``, and ``*`` in the pattern of a ``command`` stands for no character
        by which a shell would run another one.
        """
        found = _paths(arguments, base)
        inside = self.paths is None or (
            bool(found) and all(_lies_in(path, self.paths, base) for path in found)
        )
        return inside and self._names(server, tool) and self._holds(arguments, narrow=True)

    def touches(self, server: str, tool: str, arguments: Mapping[str, Any], base: Path) -> bool:
        """Whether any of the call is meant, which is enough to deny it or to ask."""
        inside = self.paths is None or any(
            _lies_in(path, self.paths, base) for path in _paths(arguments, base)
        )
        return inside and self._names(server, tool) and self._holds(arguments, narrow=False)

    def _names(self, server: str, tool: str) -> bool:
        by_server = self.servers is None or any(fnmatchcase(server, glob) for glob in self.servers)
        return by_server and (self.tools is None or names_tool(self.tools, server, tool))

    def _holds(self, arguments: Mapping[str, Any], *, narrow: bool) -> bool:
        return all(
            name in arguments
            and _matches(pattern, _text(arguments[name]), narrow=narrow and name == COMMAND_ARGUMENT)
            for name, pattern in self.arguments.items()
        )


def names_tool(globs: Iterable[str], server: str, tool: str) -> bool:
    """Whether one of ``globs`` is of ``tool`` or ``server/tool``."""
    names = (tool, f"{server}/{tool}")
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _matches(pattern: str, text: str, *, narrow: bool) -> bool:
    if pattern.startswith(RE2_PREFIX):
        return bool(_compiled(pattern.removeprefix(RE2_PREFIX)).search(text))
    wild = _OF_ONE_COMMAND if narrow else r"(?s:.)"
    return text == pattern or bool(_compiled(_translated(pattern, wild, wild)).fullmatch(text))


def _lies_in(path: str, globs: Iterable[str], base: Path) -> bool:
    """Whether ``path``, absolute and without links, is in one of ``globs``."""
    root = os.path.realpath(base)
    relative = os.path.relpath(path, root) if path == root or path.startswith(root + os.sep) else None
    for glob in globs:
        against = path if Path(glob).is_absolute() else relative
        if against is not None and _compiled(_translated(glob, r"[^/]", r"(?s:.)")).fullmatch(against):
            return True
    return False


def _paths(arguments: Mapping[str, Any], base: Path) -> list[str]:
    given = (arguments.get(name) for name in PATH_ARGUMENTS)
    return [_real(base, path) for path in given if isinstance(path, str) and path]


def _real(base: Path, path: str) -> str:
    try:
        return os.path.realpath(base / path)
    except ValueError:  # a NUL character: no path at all
        return "\0"


def _translated(glob: str, wild: str, deep: str) -> str:
    """``glob`` as an RE2 pattern; ``*`` is any number of ``wild``, ``**`` of ``deep``."""
    known = {"**/": f"(?:{deep}*/)?", "**": f"{deep}*", "*": f"{wild}*", "?": wild}
    pieces: list[str] = []
    end = 0
    for found in _WILD.finditer(glob):
        pieces += [re.escape(glob[end : found.start()]), known[found.group()]]
        end = found.end()
    return "".join([*pieces, re.escape(glob[end:])])


@lru_cache(maxsize=256)
def _compiled(source: str) -> Any:
    from toolspan_server.common.re2_patterns import compiled

    return compiled(source)
