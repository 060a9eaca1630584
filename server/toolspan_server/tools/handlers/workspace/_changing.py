"""What the tools that change a file have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....calls.context import Context
from ....engines.workspace import Change, Workspace, change
from ....engines.workspace.editing.diffs import unified
from ....engines.workspace.editing.text import Encoding, NotText, encoding_of
from ....errors import ToolFailure
from ._tool import workspace_of


def change_text(
    context: Context,
    arguments: Mapping[str, Any],
    path: str,
    make: Callable[[str, str], str],
    *,
    existing: bool = True,
    force: bool = False,
) -> dict[str, Any]:
    """In a call with ``arguments``, change the text of the file at ``path`` into what ``make`` gives for
    it and for its shown path.

    A file that is there keeps its encoding and byte order mark; a new one is UTF-8, and only made where it
    need not be ``existing``. Returns ``{"file_path", "created", "bytes", "diff"}``. Raises ``ToolFailure``.
    """
    workspace = workspace_of(context, arguments)
    place = workspace.place(path)

    def changed(before: bytes | None) -> bytes:
        if before is None and existing:
            raise ToolFailure(
                f"{place.shown} does not exist",
                error_code="file_not_found",
                user_action="Look for the right path with Glob, or make the file with Write.",
            )
        encoding, text = _decoded(before or b"", place.shown)
        return _encoded(encoding, make(text, place.shown), place.shown)

    done = change(
        workspace,
        context.caller,
        context.tool_name,
        place,
        changed,
        force=force,
        make_folders=not existing,
    )
    return {
        "file_path": place.shown,
        "created": done.before is None,
        "bytes": len(done.after),
        "diff": shown_diff(workspace, done.before, done.after, place.shown),
    }


def changes_made(arguments: Mapping[str, Any], context: Context) -> tuple[Workspace, list[Change]]:
    """The workspace, and the changes of the call's conversation that were not undone, oldest first: those of
    ``file_path`` alone, where ``arguments`` have one. Raises ``ToolFailure``."""
    workspace = workspace_of(context, arguments)
    made = workspace.checkpoints.changes(context.caller)
    if "file_path" in arguments:
        path = workspace.place(arguments["file_path"]).shown
        made = [each for each in made if each.path == path]
    return workspace, made


def shown_diff(workspace: Workspace, before: bytes | None, after: bytes | None, path: str) -> str:
    """The unified diff of two contents of ``path``; a note where one is no text."""
    try:
        old, new = (encoding_of(each).decoded(each) for each in (before or b"", after or b""))
    except NotText:
        return f"(no text: {len(before or b''):,} bytes before, {len(after or b''):,} after)\n"
    return unified(old, new, path, workspace.limits.read_bytes // 4)


def _decoded(data: bytes, path: str) -> tuple[Encoding, str]:
    try:
        encoding = encoding_of(data)
        return encoding, encoding.decoded(data)
    except NotText as fault:
        raise ToolFailure(
            f"{path} is no text: {fault}",
            error_code="binary_file",
            user_action="Use a program that knows this sort of file.",
        ) from None


def _encoded(encoding: Encoding, text: str, path: str) -> bytes:
    try:
        return encoding.encoded(text)
    except NotText as fault:
        raise ToolFailure(
            f"{path}: {fault}, which is the encoding of the file",
            error_code="encoding_error",
            user_action="Use characters that the encoding has.",
        ) from None
