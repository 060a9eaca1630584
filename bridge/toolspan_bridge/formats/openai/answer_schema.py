"""An answer that has to fit a JSON Schema: ``response_format`` as the provider takes it, or words."""

from __future__ import annotations

from typing import Any

from ...messages import Request, ToolSpec
from ..shared.json_values import compact
from ..shared.schemas import OPENAI_STRICT, Plan, Unrenderable, compile_schema, strict_or_not

_WORDS = """\
# The answer

Give the answer, once you need no tool, as one JSON value that fits this JSON Schema, with no words around
it and no code fence.

{}"""
_NAME = "answer"


def response_format(request: Request, plan: Plan) -> dict[str, Any] | None:
    """The ``response_format`` of ``request``; ``None`` where only words can ask for its schema."""
    chat, schema = request.wire.chat, request.answer_schema
    if schema is None or not chat.structured or (request.tools and not chat.structured_with_tools):
        return None
    if chat.structured == "json_object":
        return {"type": "json_object"} if schema.get("type") == "object" else None
    found = _schema(request, plan)
    return None if found is None else {"type": "json_schema", "json_schema": found}


def words(request: Request) -> str:
    """What the system prompt says of the schema, where ``response_format`` does not hold it itself."""
    return "" if request.answer_schema is None else _WORDS.format(compact(dict(request.answer_schema)))


def _schema(request: Request, plan: Plan) -> dict[str, Any] | None:
    """``json_schema``: strict where an answer by it fits the original too. The root has to be an object."""
    assert request.answer_schema is not None
    if request.answer_schema.get("type") != "object":
        return None
    tool = ToolSpec("", _NAME, "", request.answer_schema, strict=True)
    try:
        plain = compile_schema(request.answer_schema, plan)
        chosen = strict_or_not(tool, OPENAI_STRICT, plan)
    except Unrenderable:
        return None
    strict = chosen.strict and not any(change.rule == "optional-null" for change in chosen.compiled.changes)
    sent = chosen.compiled.schema if strict else plain.schema
    if set(sent.get("properties", {})) != set(request.answer_schema.get("properties", {})):
        return None
    return {"name": _NAME, "schema": sent, "strict": strict}
