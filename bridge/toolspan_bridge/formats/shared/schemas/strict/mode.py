"""A provider's strict mode, taken only where it loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .....messages import ToolSpec
from ...json_values import as_list, as_object, is_object
from ...loss_rules import RULES
from .._compile import Compiled, Plan, compile_schema
from .._refs import find
from .._walk import (
    Change,
    Schema,
    subschemas,
    tokens,
    types,
)
from ..steps.enums import one_of_to_any_of

_MOST_REASONS = 5
_MOST_FAULTS = 5_000
"""How many faults of one property the library may collect."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the strict tools of one request may have together; ``None`` is without a limit."""

    tools: int | None = None
    optional: int | None = None
    unions: int | None = None

    def spend(self, schema: Schema) -> Budget:
        """What is left after a tool with this schema. Numbers below zero say that it did not fit."""
        optional = sum(len(_optional(node)) for _, node in subschemas(schema))
        unions = sum("anyOf" in node or len(types(node)) > 1 for _, node in subschemas(schema))
        return Budget(_less(self.tools, 1), _less(self.optional, optional), _less(self.unions, unions))

    def overspent(self, limits: Budget) -> str:
        """Which of ``limits`` was passed, in words; empty when none was."""
        for left, most, what in (
            (self.tools, limits.tools, "strict tools"),
            (self.optional, limits.optional, "optional properties in strict tools"),
            (self.unions, limits.unions, "unions in strict tools"),
        ):
            if left is not None and left < 0:
                return f"a request takes at most {most} {what}"
        return ""


@dataclass(frozen=True, slots=True)
class Strict:
    """A strict mode: its own plan, whose ``faults`` are what it would refuse, and its limits a request."""

    plan: Plan
    budget: Budget = Budget()


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a tool is sent: ``compiled`` by ``plan``, enforced by the provider or not (``strict``)."""

    compiled: Compiled
    plan: Plan
    strict: bool


def strict_or_not(tool: ToolSpec, strict: Strict | None, plan: Plan) -> Chosen:
    """``tool`` by the strict mode where it asks for it and nothing is lost, else by ``plan``.

    Changes of wording, and losses that ``plan`` has too, are no loss of strict mode. Where it is
    not taken, the changes say why (rule ``not-strict``). Raises ``Unrenderable``.
    """
    plain = compile_schema(tool.schema, plan)
    if not tool.strict:
        return Chosen(plain, plan, strict=False)
    if strict is None:
        return Chosen(not_strict(plain, "this format has no strict mode"), plan, strict=False)
    compiled = compile_schema(tool.schema, strict.plan)
    reasons = [*compiled.faults, *_lost(compiled, plain), *_ambiguous(compiled, tool.schema)]
    if reasons:
        explanations = tuple(dict.fromkeys(_reason(why.pointer, why.repair) for why in reasons))[
            :_MOST_REASONS
        ]
        return Chosen(Compiled(plain.schema, (*plain.changes, *explanations)), plan, strict=False)
    return Chosen(compiled, strict.plan, strict=True)


def not_strict(plain: Compiled, why: str) -> Compiled:
    """``plain`` with the change that says why strict mode was not taken."""
    return Compiled(plain.schema, (*plain.changes, _reason("", why)))


def _reason(pointer: str, why: str) -> Change:
    return Change(pointer, "not-strict", f"sent without strict: {why}")


def _lost(compiled: Compiled, plain: Compiled) -> Iterator[Change]:
    known = {(change.pointer, change.rule) for change in plain.changes}
    for change in compiled.changes:
        if RULES[change.rule].severity != "info" and (change.pointer, change.rule) not in known:
            yield change


def _ambiguous(compiled: Compiled, schema: Mapping[str, Any]) -> Iterator[Change]:
    """The optional properties that may be null themselves: a null could also mean a missing value."""
    changed = [change.pointer for change in compiled.changes if change.rule == "optional-null"]
    for pointer in _taking_null(schema, list(dict.fromkeys(changed))):
        yield Change(pointer, "", "null would mean both null and left out")


def _taking_null(schema: Mapping[str, Any], pointers: list[str]) -> list[str]:
    """Those of ``pointers`` into ``schema`` whose value may be null, or that lead to none.

    They are asked about together, as properties of one schema: each by itself would read all definitions
    again. Where no validator can be made of them, all of them are given.
    """
    import jsonschema_rs

    from toolspan_server.engines.parameters import Costs, compile_schema

    nodes = {pointer: find(schema, tokens(pointer)) for pointer in pointers}
    known = {pointer: node for pointer, node in nodes.items() if is_object(node)}
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    asked, _ = one_of_to_any_of({**shared, "type": "object", "properties": known})
    nothing = dict.fromkeys(known)
    try:
        validator, costs = compile_schema(asked), Costs(asked)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return pointers
    most = max((costs.most_faults(node, None) for node in known.values()), default=0)
    if most > _MOST_FAULTS or costs.too_many(nothing):
        return pointers
    refused = {str(fault.instance_path[0]) for fault in validator.iter_errors(nothing) if fault.instance_path}
    return [pointer for pointer in pointers if pointer not in known or pointer not in refused]


def _optional(node: Schema) -> set[str]:
    return set(as_object(node.get("properties")) or {}) - set(as_list(node.get("required")) or [])


def _less(left: int | None, spent: int) -> int | None:
    return None if left is None else left - spent
