"""Paths in a config: relative to its folder, and inside it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated

from ..problems import Fault, Faulty
from .constraints import Limits

RelativePath = Annotated[str, Limits(least=1, most=1_000)]
"""A path in a config, relative to its folder."""

OUTSIDE = "Whether it may lie outside of the config's folder."
_PARTS = re.compile(r"[/\\]")


def is_inside(path: str) -> bool:
    """Whether ``path``, relative to the config's folder, stays inside it; links are not followed."""
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).anchor or PureWindowsPath(path).drive:
        return False
    depth = 0
    for part in _PARTS.split(path):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return False
    return True


def path_fault(name: str, path: str) -> Fault:
    """A fault when ``path``, the value of the key ``name``, leads out of the config's folder."""
    return Fault(
        (name,),
        f"{path!r} is outside of the config's folder",
        "name a path below the folder, or write outside: true beside it",
    )


def inside(path: str) -> str:
    """``path`` unchanged. Raises ``Faulty`` when it leads out of the config's folder."""
    if not is_inside(path):
        raise Faulty(Fault((), f"{path!r} is outside of the config's folder", "name a path below the folder"))
    return path
