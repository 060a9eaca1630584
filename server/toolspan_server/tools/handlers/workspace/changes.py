"""``Changes``: what a conversation changed in the workspace."""

from __future__ import annotations

from typing import Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import ToolFailure
from ._tool import Definition, Options, references

DEFINITION = Definition(
    name="Changes",
    description=(
        "List the files of the workspace that were changed in this conversation and not undone, each with "
        "the difference between what it held before and what it holds now."
    ),
    properties={
        "file_path": {"type": "string", "description": "Only the changes of this file"},
        "diffs": {"type": "boolean", "description": "Whether to show what differs; true by default"},
    },
    read_only=True,
    idempotent=True,
    for_people=True,
    tags=("client:Changes",),
)


@handler("Changes", kind="internal", options=Options, references=references)
def changes(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"file_path"?, "diffs"?}`` → ``{"files": [{"file_path", "status", "changes", "diff"}]}``."""
    from ._changing import changes_made, content_now, shown_diff

    workspace, found = changes_made(arguments, context)
    by_path: dict[str, list[Any]] = {}
    for each in found:
        by_path.setdefault(each.path, []).append(each)
    files: list[dict[str, Any]] = []
    for path, made in by_path.items():
        try:
            now = content_now(workspace, workspace.place(path))
        except ToolFailure as failure:
            files.append({"file_path": path, "status": f"unreadable: {failure.error}"})
            continue
        before: bytes | None = made[0].before
        entry: dict[str, Any] = {
            "file_path": path,
            "status": "removed" if now is None else "created" if before is None else "changed",
            "changes": [{"id": each.id, "at": each.at, "tool": each.tool} for each in made],
        }
        if arguments.get("diffs", True):
            entry["diff"] = shown_diff(workspace, before, now, path)
        files.append(entry)
    return {"files": files}
