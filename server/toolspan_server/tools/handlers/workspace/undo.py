"""``Undo``: changes of a conversation in the workspace, taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.registration import handler
from ._planning import not_while_planning
from ._tool import Definition, Options, references

if TYPE_CHECKING:
    from ....engines.definitions.call_preview import CallPreview
    from ....engines.workspace import Change, Workspace

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


def _preview(arguments: dict[str, Any], context: Context) -> CallPreview:
    from ....engines.definitions.call_preview import CallPreview, Section
    from ._changing import content_now, diff_section
    from ._previewing import basis, path_section, with_rest

    workspace, made = _chosen(arguments, context)
    if not made:
        section = Section("text", "undoes", "nothing: this conversation has no such change")
        return with_rest(CallPreview((section,), basis="none"), arguments, _SHOWN)
    sections: list[Section] = []
    contents: list[bytes | None] = []
    for path, oldest in {each.path: each for each in reversed(made)}.items():
        place = workspace.place(path)
        now = content_now(workspace, place)
        sections += [path_section("file", workspace, place), diff_section(now, oldest.before, path)]
        contents += [now, oldest.before]
    numbers = ",".join(str(each.id) for each in made)
    return with_rest(CallPreview(tuple(sections), basis=basis(*contents) + numbers), arguments, _SHOWN)


_SHOWN = frozenset(("file_path", "all", "id"))


@handler("Undo", kind="internal", options=Options, references=references, preview=_preview)
@not_while_planning
def undo(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"file_path"?, "all"?, "id"?}`` → ``{"undone": […], "kept": [{"id", "file_path", "why"}]}``."""
    from ....engines.workspace import undo as undo_changes

    workspace, made = _chosen(arguments, context)
    outcomes = undo_changes(workspace, made)
    named = {each.id: each.path for each in made}
    return {
        "undone": [{"id": each, "file_path": named[each]} for each, why in outcomes.items() if why is None],
        "kept": [{"id": each, "file_path": named[each], "why": why} for each, why in outcomes.items() if why],
    }


def _chosen(arguments: dict[str, Any], context: Context) -> tuple[Workspace, list[Change]]:
    """The workspace, and the changes that ``arguments`` name, oldest first. Raises ``ToolFailure``."""
    from ._changing import changes_made

    workspace, made = changes_made(arguments, context)
    if "file_path" in arguments:
        return workspace, made
    if "id" in arguments:
        return workspace, [each for each in made if each.id >= arguments["id"]]
    return workspace, made if arguments.get("all", False) else made[-1:]
