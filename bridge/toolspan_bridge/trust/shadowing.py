"""Tools whose names could be taken for those of another server's tools.

Names are compared as people see them: after Unicode's compatibility forms (NFKC), without regard to case, to
what separates words (``_``, ``-``, ``.``, space) and to invisible characters, and with the Cyrillic and Greek
letters, and digits, that look like Latin letters taken for these. Names of one server are not compared.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from ..messages import ToolSpec

_TOLD = 20
_LOOKALIKES = str.maketrans(
    {
        **dict(zip("авгеіїјкмнорстухѕһԁԛԝьӏ", "abreiijkmhopctyxshdqwbl", strict=True)),
        **dict(zip("αβγεηικνορτυχωϲ", "abyenikvoptuxwc", strict=True)),
        **dict(zip("013ıɡɑ|", "olelgal", strict=True)),
    }
)
_IGNORED = frozenset({"Cc", "Cf", "Mn", "Pc", "Pd", "Zs"})


def looks_like(name: str) -> str:
    """What ``name`` looks like: equal for names that could be taken for each other."""
    plain = unicodedata.normalize("NFKD", name).casefold().translate(_LOOKALIKES).replace("i", "l")
    return "".join(sign for sign in plain if sign != "." and unicodedata.category(sign) not in _IGNORED)


class Shadows:
    """Which of ``tools`` have names that another server's tool has, or could be taken for."""

    def __init__(self, tools: Iterable[ToolSpec]) -> None:
        self._groups: dict[str, list[ToolSpec]] = {}
        for tool in tools:
            self._groups.setdefault(looks_like(tool.name), []).append(tool)

    def of(self, server: str, tool: str) -> list[ToolSpec]:
        """The tools of other servers that ``tool`` of ``server`` could be taken for."""
        return [other for other in self._groups.get(looks_like(tool), ()) if other.server != server]

    def notes(self) -> list[str]:
        """One sentence for each such group; of more than a few, how many there are."""
        groups = [group for group in self._groups.values() if len({tool.server for tool in group}) > 1]
        notes = [_note(group) for group in groups]
        if len(notes) > _TOLD:
            notes[_TOLD:] = [f"{len(notes) - _TOLD} more names are of tools of several servers"]
        return notes


def shadow_notes(shadowed: Iterable[ToolSpec], tool: str) -> list[str]:
    """A sentence for each of a few ``shadowed`` tools that ``tool`` could be taken for."""
    return [
        f"the server {other.server!r} has a tool of this name too"
        if other.name == tool
        else f"the server {other.server!r} has a tool whose name looks like it: {spelled(other.name)}"
        for other in list(shadowed)[:_TOLD]
    ]


def spelled(name: str) -> str:
    """``name`` in quotes, with letters of other scripts named, as they may look like Latin ones."""
    foreign: Mapping[str, str] = {
        sign: unicodedata.name(sign, f"U+{ord(sign):04X}") for sign in name if not sign.isascii()
    }
    return repr(name) + (f" ({', '.join(foreign.values())})" if foreign else "")


def _note(group: list[ToolSpec]) -> str:
    servers: dict[str, list[str]] = {}
    for tool in group:
        servers.setdefault(tool.name, []).append(f"server {tool.server!r}")
    if len(servers) == 1:
        ((name, where),) = servers.items()
        return f"{', '.join(where)}: each has a tool {spelled(name)}: look at which one is called"
    each = "; ".join(f"{spelled(name)} of {', '.join(where)}" for name, where in servers.items())
    return f"tools whose names could be taken for each other: {each}: look at which one is called"
