"""``Undo``: changes of a conversation in the workspace, taken back."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ._planning import not_while_planning
from ._tool import Definition, Options, references

DEFINITION = Definition(
    name="Undo",
    description=(
        "Undo changes of files that were made in this conversation: the last one, those of one file, or all. "
        "A file that was changed since by something else is left as it is."
    ),
    properties={
        "file_path": {"type": "string", "description": "Undo every change of this file"},
        "all": {"type": "boolean", "description": "Undo every change of this conversation"},
        "id": {"type": "integer", "description": "Undo this change and what came after it, as Changes lists"},
    },
    destructive=True,
    approval=True,
    for_people=True,
    tags=("client:Undo",),
)


@handler("Undo", kind="internal", options=Options, references=references)
@not_while_planning
def undo(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"file_path"?, "all"?, "id"?}`` → ``{"undone": […], "kept": [{"id", "file_path", "why"}]}``."""
    from ....engines.workspace import undo as undo_changes
    from ._changing import changes_made

    workspace, made = changes_made(arguments, context)
    if "file_path" in arguments:
        pass  # all of that file
    elif "id" in arguments:
        made = [each for each in made if each.id >= arguments["id"]]
    elif not arguments.get("all", False):
        made = made[-1:]
    outcomes = undo_changes(workspace, made)
    named = {each.id: each.path for each in made}
    return {
        "undone": [{"id": each, "file_path": named[each]} for each, why in outcomes.items() if why is None],
        "kept": [{"id": each, "file_path": named[each], "why": why} for each, why in outcomes.items() if why],
    }
