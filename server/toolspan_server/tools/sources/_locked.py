"""An upstream's tools, held to the definitions in ``toolspan.lock``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...engines.definitions import LOCK_FILE, digest_of, locked_definitions

if TYPE_CHECKING:
    from ...engines.upstreams import ListedTool

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_REMEDY = "toolspan lock --check shows the differences, toolspan lock accepts them"


class LockUnusable(Exception):
    """The lock cannot be read, or does not name the server."""


@dataclass(slots=True)
class HeldTools:
    """The tools that are as they were locked, the names of the others, and why these are withheld."""

    tools: list[ListedTool] = field(default_factory=list["ListedTool"])
    withheld: list[str] = field(default_factory=list[str])
    reasons: list[str] = field(default_factory=list[str])


def held_to_lock(folder: Path, upstream: str, listed: Sequence[ListedTool]) -> HeldTools:
    """Those of ``listed`` that the lock in ``folder`` has with the same definition. Reads a file.

    Raises ``LockUnusable``: without a lock no definition is one that somebody accepted.
    """
    path = folder / LOCK_FILE
    try:
        locked = locked_definitions(path)
    except ValueError as error:
        raise LockUnusable(f"{path}: {error} (bring back the file, or run toolspan lock)") from None
    if locked is None:
        raise LockUnusable(f"there is no {path} (look at the tools, then write it with toolspan lock)")
    known = next((tools for name, tools in locked.items() if _ILLEGAL.sub("_", name) == upstream), None)
    if known is None:
        raise LockUnusable(f"{path} does not name the server (look at its tools, then run toolspan lock)")
    held = HeldTools()
    for tool in listed:
        if (before := known.get(tool.name)) is not None and digest_of(before) == digest_of(tool.definition):
            held.tools.append(tool)
            continue
        what = (
            f"was not there when {LOCK_FILE} was written"
            if before is None
            else f"is not as {LOCK_FILE} has it"
        )
        held.withheld.append(tool.name)
        held.reasons.append(f"the tool {tool.name!r} {what}, and is withheld ({_REMEDY})")
    return held
