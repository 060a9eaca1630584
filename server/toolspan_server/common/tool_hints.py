"""What a tool's implementation says of its calls: the hints of MCP's ToolAnnotations.

A hint that is not there is not known. https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Hints = Mapping[str, bool]
"""``read_only``, ``destructive``, ``idempotent``, ``open_world``; each may be missing."""

READS: Hints = {"read_only": True}
"""A call changes nothing."""


def combine_hints(each: Iterable[Hints]) -> dict[str, bool]:
    """The hints of what makes calls of all of these: it reads only if all do, and may destroy if one may."""
    every = list(each)
    found: dict[str, bool] = {}
    changing = [hints for hints in every if hints.get("read_only") is not True]
    if every and not changing:
        found["read_only"] = True
    elif any(hints.get("read_only") is False or hints.get("destructive") for hints in changing):
        found["read_only"] = False
    if any(hints.get("destructive") for hints in changing):
        found["destructive"] = True
    elif changing and all(hints.get("destructive") is False for hints in changing):
        found["destructive"] = False
    if any(hints.get("open_world") for hints in every):
        found["open_world"] = True
    return found


def join_hints(said: Mapping[str, Any], derived: Hints) -> dict[str, Any]:
    """``said``, the hints that a config gives, completed by what is ``derived`` from the implementation."""
    given = {name: value for name, value in said.items() if value is not None}
    if given.get("read_only") is True:
        derived = {name: value for name, value in derived.items() if name != "destructive"}
    return {**derived, **given}


def may_destroy(annotations: Mapping[str, Any]) -> bool:
    """Whether a tool with these annotations, as MCP writes them, says that a call may overwrite or delete.

    One that says that it changes something, and not that it only adds, may: ``destructiveHint`` is true by
    default. One that says nothing at all is not known to.
    """
    reads, destroys = annotations.get("readOnlyHint"), annotations.get("destructiveHint")
    return reads is not True and (destroys is True or (reads is False and destroys is not False))
