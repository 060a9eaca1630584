"""Compiles tools for a format: schemas adapted, bad tools left out, every loss reported, results cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ....messages import ToolSpec
from ...names import NameTable
from ..contract import Loss
from ..identity import IdentityKey
from ..json_values import CleanObject, clean
from ..loss_rules import loss
from ..schemas import (
    Budget,
    Chosen,
    Plan,
    Strict,
    Unrenderable,
    compile_schema,
    not_strict,
    restore_arguments,
    strict_or_not,
)

_CACHED_LISTS = 32


@dataclass(frozen=True, slots=True)
class WireTool:
    """A tool as it is sent; ``strict`` when the provider should enforce its schema."""

    name: str
    description: str
    schema: dict[str, Any]
    strict: bool = False
    output_schema: Mapping[str, Any] | None = None


RenderTool = Callable[[WireTool], dict[str, Any]]
"""Renders one tool in a format. It must be a module's function, not a lambda: it is a cache key."""


@dataclass(frozen=True, slots=True)
class CompiledTools:
    """The tools that are sent, sorted, and the losses of all requested tools, those beyond a limit too."""

    tools: tuple[WireTool, ...]
    losses: tuple[Loss, ...]
    _rendered: dict[RenderTool, tuple[CleanObject, ...]] = field(
        default_factory=dict[RenderTool, tuple[CleanObject, ...]], compare=False, repr=False
    )

    def rendered(self, shape: RenderTool) -> list[dict[str, Any]]:
        """Every tool by ``shape``: rendered once, then cached. The list is new, its items are shared."""
        if shape not in self._rendered:
            self._rendered[shape] = tuple(CleanObject(clean(shape(tool))) for tool in self.tools)
        return list(self._rendered[shape])


def compile_tools(
    tools: Sequence[ToolSpec],
    names: NameTable,
    plan: Plan,
    limit: int | None = None,
    strict: Strict | None = None,
) -> CompiledTools:
    """``tools`` by ``plan``, at most ``limit`` of them; by ``strict`` those that request it and lose nothing.

    A duplicate tool counts once. One whose schema no provider accepts is left out: a request with one
    bad tool is refused as a whole. Results are cached: the same tools and names cost nothing again.
    """
    return _compiled(IdentityKey(tools), names, plan, limit, strict)


def restore(
    tool: ToolSpec, arguments: Mapping[str, Any], plan: Plan, strict: Strict | None = None
) -> dict[str, Any]:
    """A call's arguments in the words of the tool's own schema, as ``compile_tools`` sent it."""
    return restore_arguments(tool.schema, arguments, _plan_of(tool, plan, strict))


def _plan_of(tool: ToolSpec, plan: Plan, strict: Strict | None) -> Plan:
    if not tool.strict or strict is None:
        return plan
    return _chosen(IdentityKey((tool,)), plan, strict)


@lru_cache(maxsize=1024)
def _chosen(tool: IdentityKey[ToolSpec], plan: Plan, strict: Strict) -> Plan:
    try:
        return strict_or_not(tool.items[0], strict, plan).plan
    except Unrenderable:
        return plan


@lru_cache(maxsize=_CACHED_LISTS)
def _compiled(
    same: IdentityKey[ToolSpec], names: NameTable, plan: Plan, limit: int | None, strict: Strict | None
) -> CompiledTools:
    losses: list[Loss] = []
    sent: list[WireTool] = []
    beyond: list[str] = []
    left = strict.budget if strict else Budget()
    for tool in _once(same.items, names, losses):
        name = names.wire(tool)
        try:
            chosen = strict_or_not(tool, strict, plan)
        except Unrenderable as problem:
            change = problem.change
            losses.append(loss(name, change.pointer, change.rule, change.repair))
            continue
        full = limit is not None and len(sent) == limit
        if chosen.strict and strict is not None and not full:
            chosen, left = _within(chosen, left, strict, tool, plan)
        losses.extend(loss(name, c.pointer, c.rule, c.repair, c.name) for c in chosen.compiled.changes)
        if full:
            beyond.append(name)
            continue
        description = clean(tool.description.strip())
        sent.append(
            WireTool(name, description, chosen.compiled.schema, chosen.strict, clean(tool.output_schema))
        )
    losses.extend(_too_many(len(sent), beyond))
    return CompiledTools(tuple(sent), tuple(losses))


def _within(
    chosen: Chosen, left: Budget, strict: Strict, tool: ToolSpec, plan: Plan
) -> tuple[Chosen, Budget]:
    """``chosen`` and the rest of the request's budget; if it does not fit, the tool without strict."""
    after = left.spend(chosen.compiled.schema)
    if not (why := after.overspent(strict.budget)):
        return chosen, after
    return Chosen(not_strict(compile_schema(tool.schema, plan), why), plan, strict=False), left


def _once(tools: Sequence[ToolSpec], names: NameTable, losses: list[Loss]) -> list[ToolSpec]:
    first: dict[tuple[str, str], ToolSpec] = {}
    for tool in tools:
        if tool.key in first:
            repair = f"tool left out: {tool.server!r} has a tool {tool.name!r} already"
            losses.append(loss(names.wire(tool), "", "duplicate-tool", repair))
        first.setdefault(tool.key, tool)
    return [first[key] for key in sorted(first, key=lambda key: (first[key].late, key))]


def _too_many(limit: int, beyond: Sequence[str]) -> Iterator[Loss]:
    """A loss for the tools ``beyond`` the ``limit``, which are left out."""
    total = limit + len(beyond)
    repair = f"tool left out: {total} tools, {limit} at most, so {len(beyond)} are left out"
    return (loss(name, "", "too-many-tools", repair) for name in beyond)
