"""The JSON Schema of an answer, as ``text.format`` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...messages import Request, ToolSpec
from ..shared.schemas import OPENAI_STRICT, Plan, Unrenderable, compile_schema, strict_or_not

_NAME = "answer"


def answer_format(request: Request, plan: Plan) -> dict[str, Any] | None:
    """``{"type": "json_schema", "name", "schema", "strict"}``; ``None`` where no schema is asked for, or it
    cannot be sent as it is: its root has to be an object whose properties stay.

    Strict only where an answer by it fits the schema too: not where null stands for what is left out.
    """
    wanted = request.answer_schema
    if wanted is None or wanted.get("type") != "object":
        return None
    try:
        plain = compile_schema(wanted, plan).schema
        chosen = strict_or_not(ToolSpec("", _NAME, "", wanted, strict=True), OPENAI_STRICT, plan)
    except Unrenderable:
        return None
    strict = chosen.strict and all(change.rule != "optional-null" for change in chosen.compiled.changes)
    sent = chosen.compiled.schema if strict else plain
    if _properties(sent) != _properties(wanted):
        return None
    return {"type": "json_schema", "name": _NAME, "schema": sent, "strict": strict}


def _properties(schema: Mapping[str, Any]) -> set[str]:
    return set(schema.get("properties", {}))
