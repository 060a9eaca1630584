"""The schema of the answer, where Claude's provider enforces it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ....messages import Request, ToolSpec
from ..identity import IdentityKey
from ..schemas import ANTHROPIC_STRICT, Unrenderable, strict_or_not
from .models import Family, family
from .tools import PLAN

__all__ = ["answer_format", "takes_answer_schema"]

_SHAPES = frozenset(
    {"property-key", "wrap-root"}
)  # changes that an answer would have to be changed back from
_CITING = frozenset({"web_fetch", "web_search"})


def takes_answer_schema(request: Request) -> bool:
    """Whether the provider enforces ``request.answer_schema``: its model can, the schema loses nothing by its
    rules, and no tool is asked for whose findings are cited, since both at once are refused."""
    return answer_format(request, family(request.model)) is not None


def answer_format(request: Request, kind: Family) -> dict[str, Any] | None:
    """``{"type": "json_schema", "schema"}``; ``None`` where the schema cannot be sent."""
    if request.answer_schema is None or not kind.structured or _CITING & set(request.builtins):
        return None
    schema = _strict(IdentityKey((request.answer_schema,)))
    return None if schema is None else {"type": "json_schema", "schema": schema}


@lru_cache(maxsize=64)
def _strict(wanted: IdentityKey[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The schema by the rules of strict mode; ``None`` where these would change what fits it."""
    schema = wanted.items[0]
    if schema.get("type") != "object":
        return None
    try:
        chosen = strict_or_not(ToolSpec("", "answer", "", schema, strict=True), ANTHROPIC_STRICT, PLAN)
    except Unrenderable:
        return None
    sent = chosen.compiled.schema
    changed = _SHAPES & {change.rule for change in chosen.compiled.changes}
    limits = ANTHROPIC_STRICT.budget
    if changed or not chosen.strict or limits.spend(sent).overspent(limits):
        return None
    return sent
