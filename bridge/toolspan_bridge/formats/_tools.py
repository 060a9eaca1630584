"""Tools made ready for a format: schemas compiled, bad tools left out, everything lost reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..messages import ToolSpec
from ._contract import Loss
from .names import NameTable
from .schemas import Plan, Unrenderable, compile_schema


@dataclass(frozen=True, slots=True)
class WireTool:
    """A tool as it is sent."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The tools that are sent, sorted, and what a format could not keep of all that were asked for."""

    tools: tuple[WireTool, ...]
    losses: tuple[Loss, ...]


def prepare(tools: Sequence[ToolSpec], names: NameTable, plan: Plan, limit: int | None = None) -> Prepared:
    """``tools`` by ``plan``, at most ``limit`` of them.

    A tool that comes twice counts once. One whose schema no provider takes is left out: a request with one
    bad tool is refused whole.
    """
    losses: list[Loss] = []
    sent: list[WireTool] = []
    for tool in _once(tools, names, losses):
        name = names.wire(tool)
        try:
            compiled = compile_schema(tool.schema, plan)
        except Unrenderable as problem:
            change = problem.change
            losses.append(Loss(name, change.pointer, change.rule, change.repair))
            continue
        sent.append(WireTool(name, tool.description.strip(), compiled.schema))
        losses.extend(Loss(name, change.pointer, change.rule, change.repair) for change in compiled.changes)
    return Prepared(*_limited(sent, losses, limit))


def _once(tools: Sequence[ToolSpec], names: NameTable, losses: list[Loss]) -> list[ToolSpec]:
    first: dict[tuple[str, str], ToolSpec] = {}
    for tool in tools:
        if tool.key in first:
            repair = f"tool left out: {tool.server!r} has a tool {tool.name!r} already"
            losses.append(Loss(names.wire(tool), "", "duplicate-tool", repair))
        first.setdefault(tool.key, tool)
    return [first[key] for key in sorted(first)]


def _limited(
    sent: list[WireTool], losses: list[Loss], limit: int | None
) -> tuple[tuple[WireTool, ...], tuple[Loss, ...]]:
    if limit is None or len(sent) <= limit:
        return tuple(sent), tuple(losses)
    beyond = sent[limit:]
    left_out = {tool.name for tool in beyond}
    repair = f"tool left out: {len(sent)} tools, {limit} at most, so {len(beyond)} are left out"
    rest = [loss for loss in losses if loss.tool not in left_out or loss.rule == "duplicate-tool"]
    rest.extend(Loss(tool.name, "", "too-many-tools", repair) for tool in beyond)
    return tuple(sent[:limit]), tuple(rest)
