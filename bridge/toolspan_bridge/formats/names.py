"""Wire names: what a tool is called towards a model, and the way back, by table.

A wire name is ``server__tool``, or the tool's own name of one without a server, at most 64 of
``A-Z a-z 0-9 _ -``, beginning with a letter or ``_``: the set that every provider takes. It depends
on nothing but the two names, unless two tools would collide, so that a further server renames nothing in a
stored conversation.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..messages import ToolSpec
from .shared.identity import IdentityKey

__all__ = ["MAX_LENGTH", "NameTable", "legal_name"]

MAX_LENGTH = 64

_MOST_CALLED = 300
_SPACES = tuple(
    f"{space}{between}"
    for space in ("functions", "function", "tools", "tool", "default_api")
    for between in ".:/"
)
"""What templates put before the names of tools."""

_Key = tuple[str, str]


class NameTable:
    """The reversible mapping between tools and wire names. Build one with ``NameTable.of``."""

    def __init__(self, tools: Mapping[str, ToolSpec]) -> None:
        self._tools = dict(tools)
        self._names = {tool.key: name for name, tool in self._tools.items()}

    @classmethod
    def of(cls, tools: Sequence[ToolSpec]) -> NameTable:
        """The table of ``tools``. Of two tools with the same server and name, the first counts.

        The very same tools get the very same table, so that whatever was made by it need not be made again.
        """
        return _table(IdentityKey(tools))

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """Every tool once, sorted by server and name; those that came late are last."""
        return tuple(self._tools.values())

    def wire(self, tool: ToolSpec) -> str:
        """The tool's wire name. Raises ``KeyError`` for a tool that is not in the table."""
        return self._names[tool.key]

    def tool(self, wire_name: str) -> ToolSpec | None:
        """The tool behind a wire name, found by lookup only; ``None`` when there is none."""
        return self._tools.get(wire_name)

    def called(self, name: str) -> ToolSpec | None:
        """The tool that a model means by ``name``: the one with this wire name, else the only one that is
        called so by its server, as small models shorten it; also with what models and servers add to a name
        (``functions.NAME:0``, ``NAME<|channel|>commentary``, ``SERVER.NAME``). ``None`` when there is
        none."""
        if (found := self.tool(name)) is not None:
            return found
        for each in dict.fromkeys((name, _plain_name(name))):
            fitting = [tool for tool in self.tools if each in _own_names(tool) or each == self.wire(tool)]
            if len(fitting) == 1:
                return fitting[0]
        return None

    def as_dict(self) -> dict[str, _Key]:
        """Wire name to (server, tool), sorted as ``tools`` is."""
        return {name: tool.key for name, tool in self._tools.items()}


def _own_names(tool: ToolSpec) -> tuple[str, ...]:
    return (tool.name, *(f"{tool.server}{between}{tool.name}" for between in ".:/" if tool.server))


def _plain_name(name: str) -> str:
    """``name`` without what is known to be put around names."""
    name = name[:_MOST_CALLED].partition("<|")[0].strip().strip("`\"'").strip()
    head, _, number = name.rpartition(":")
    name = head if head and number.isdecimal() else name.removesuffix("()")
    return next((name[len(space) :] for space in _SPACES if name.startswith(space)), name)


@lru_cache(maxsize=32)
def _table(tools: IdentityKey[ToolSpec]) -> NameTable:
    first: dict[_Key, ToolSpec] = {}
    for tool in tools.items:
        first.setdefault(tool.key, tool)
    names = _distinct(tuple(first))
    return NameTable(
        {names[key]: first[key] for key in sorted(first, key=lambda key: (first[key].late, key))}
    )


def legal_name(name: str) -> str:
    """``name``, changed only where a provider would refuse it: for calls that a model made up, of which
    nothing that it did not write is shown to it."""
    return _spell(name)[:MAX_LENGTH]


def _distinct(keys: Sequence[_Key]) -> dict[_Key, str]:
    """A name for each key. Names that are equal but for case all get a hash, a longer one each time."""
    digits = dict.fromkeys(keys, 0)
    while True:
        names = {key: _name(key, digits[key]) for key in keys}
        owners: defaultdict[str, list[_Key]] = defaultdict(list)
        for key, name in names.items():
            owners[name.casefold()].append(key)
        clashing = [key for group in owners.values() if len(group) > 1 for key in group]
        if not clashing:
            return names
        for key in clashing:
            digits[key] += 8


def _name(key: _Key, digits: int) -> str:
    base = "__".join(filter(None, key))
    spelled = _spell(base)
    if digits == 0 and spelled == base and len(base) <= MAX_LENGTH:
        return base
    return _hashed(spelled, "\0".join(key), digits or 8)


def _spell(name: str) -> str:
    spelled = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return spelled if re.match(r"[A-Za-z_]", spelled) else f"_{spelled}"


def _hashed(spelled: str, identity: str, digits: int) -> str:
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{spelled[: MAX_LENGTH - 1 - digits]}_{digest}"
