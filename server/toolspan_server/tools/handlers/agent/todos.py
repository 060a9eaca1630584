"""``Todos``: the list of tasks of a conversation, for the person."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ..workspace._tool import Definition, Options, notes_of, references
from ._todos import TODOS, counted

DEFINITION = Definition(
    name="Todos",
    description="Show the list of tasks of this conversation, as TodoWrite wrote it last.",
    properties={},
    read_only=True,
    idempotent=True,
    for_people=True,
    tags=("client:Todos",),
)


@handler("Todos", kind="internal", options=Options, references=references)
def todos(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{}`` → ``{"todos", "pending", "in_progress", "completed"}``."""
    del arguments
    kept: list[dict[str, Any]] = notes_of(context).get(context.caller, TODOS) or []
    return {"todos": kept, **counted(kept)}
