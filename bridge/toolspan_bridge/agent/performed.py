"""The tools of our own servers that a client performs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from toolspan_server.engines.definitions import Fingerprint
from toolspan_server.engines.upstreams import ListedTool

from ..provenance.outward import REACH_META
from ..toolbox import Toolbox

_TAG = "client:"
_SEQUENTIAL = "dev.toolspan/sequential"


def listed_as(toolbox: Toolbox, name: str) -> Iterator[ListedTool]:
    """The tools of our own servers in ``toolbox`` that a client is to perform as ``name``."""
    return (taken_over(tool) for tool in toolbox.own_tools if f"{_TAG}{name}" in tool.tags)


def taken_over(tool: ListedTool) -> ListedTool:
    """``tool`` without what holds for its server's: its ``_meta``, but for how far calls reach, and what its
    definition is known by."""
    details = {name: value for name, value in tool.details.items() if name != "_meta"}
    if REACH_META in tool.meta:
        details["_meta"] = {REACH_META: tool.meta[REACH_META]}
    return replace(tool, details=details, fingerprint=Fingerprint("", {}))


def alone(tool: ListedTool) -> ListedTool:
    """``tool``, whose calls run with no other call beside them."""
    meta: dict[str, Any] = {**tool.meta, _SEQUENTIAL: True}
    return replace(tool, details={**tool.details, "_meta": meta})
