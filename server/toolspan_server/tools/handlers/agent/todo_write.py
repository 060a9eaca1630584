"""``TodoWrite``: the list of tasks of a conversation."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters
from ..workspace._tool import Definition, Options, notes_of, references
from ._todos import TODOS, counted

_MOST_TODOS = 200
_STATUSES = ("pending", "in_progress", "completed")

DEFINITION = Definition(
    name="TodoWrite",
    description=(
        "Replace the list of tasks of this conversation, which the person sees. Use it for work of several "
        "steps: write all of them down first, set one to in_progress before you begin with it, and to "
        "completed as soon as it is done. At most one task is in progress."
    ),
    properties={
        "todos": {
            "type": "array",
            "maxItems": _MOST_TODOS,
            "description": "The whole list; an empty one clears it",
            "items": {
                "type": "object",
                "properties": {
                    "content": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 1_000,
                        "description": "What is to be done, such as: Run the tests",
                    },
                    "status": {"type": "string", "enum": list(_STATUSES)},
                    "activeForm": {
                        "type": "string",
                        "maxLength": 1_000,
                        "description": "The same while it is being done, such as: Running the tests",
                    },
                },
                "required": ["content", "status"],
                "additionalProperties": False,
            },
        }
    },
    required=("todos",),
    read_only=True,
    idempotent=True,
    sequential=True,
    tags=("main-agent",),
)


@handler("TodoWrite", kind="internal", options=Options, references=references)
def todo_write(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"todos": [{"content", "status", "activeForm"?}]}`` → ``{"todos", "pending", "in_progress",
    "completed"}``."""
    todos: list[dict[str, Any]] = arguments["todos"]
    counts = counted(todos)
    if counts["in_progress"] > 1:
        raise InvalidParameters(
            [f"todos: {counts['in_progress']} are in_progress, and at most one may be at a time"]
        )
    notes_of(context).set(context.caller, TODOS, todos or None)
    return {"todos": todos, **counts}
