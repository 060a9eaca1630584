"""What the tools that change a file have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....calls.context import Context
from ....engines.definitions.call_preview import CallPreview, Section
from ....engines.workspace import Change, Place, Workspace, change, foresee
from ....engines.workspace.editing.diffs import unified, whole_diff
from ....engines.workspace.editing.text import Encoding, NotText, encoding_of
from ....errors import ToolFailure
from ._previewing import basis, path_section, with_rest
from ._tool import workspace_of


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of the text of the file at ``path`` into what ``make`` gives for it and for its shown path.

    A file that is there keeps its encoding and byte order mark; a new one is UTF-8, and only made where it
    need not be ``existing``. ``force`` as in ``engines.workspace.change``.
    """

    path: str
    make: Callable[[str, str], str]
    existing: bool = True
    force: bool = False

    def bytes_after(self, before: bytes | None, place: Place) -> bytes:
        """What the file at ``place`` holds then. Raises ``ToolFailure``."""
        if before is None and self.existing:
            raise ToolFailure(
                f"{place.shown} does not exist",
                error_code="file_not_found",
                user_action="Look for the right path with Glob, or make the file with Write.",
            )
        encoding, text = _decoded(before or b"", place.shown)
        return _encoded(encoding, self.make(text, place.shown), place.shown)


def change_text(context: Context, arguments: Mapping[str, Any], wanted: TextChange) -> dict[str, Any]:
    """Make the change in a call with ``arguments``.

    Returns ``{"file_path", "created", "bytes", "diff"}``. Raises ``ToolFailure``.
    """
    workspace = workspace_of(context, arguments)
    place = workspace.place(wanted.path)
    done = change(
        workspace,
        context.caller,
        context.tool_name,
        place,
        lambda before: wanted.bytes_after(before, place),
        force=wanted.force,
        make_folders=not wanted.existing,
    )
    return {
        "file_path": place.shown,
        "created": done.before is None,
        "bytes": len(done.after),
        "diff": shown_diff(workspace, done.before, done.after, place.shown),
    }


def preview_text(
    context: Context,
    wanted: TextChange,
    arguments: Mapping[str, Any],
    shown: frozenset[str],
    difference: Callable[[], tuple[Section, ...]] | None = None,
) -> CallPreview:
    """The change as it would be made now: the file, and the whole diff, or the ``difference`` that is known
    once the change was foreseen.

    That shows the arguments ``shown``; the others follow as JSON. Raises ``ToolFailure``.
    """
    workspace = workspace_of(context, arguments)
    place = workspace.place(wanted.path)
    foreseen, refusal = foresee(
        workspace,
        context.caller,
        place,
        lambda before: wanted.bytes_after(before, place),
        force=wanted.force,
        make_folders=not wanted.existing,
    )
    warnings = [f"As things stand the call is refused: {refusal}"] if refusal else []
    path = path_section("new file" if foreseen.before is None else "file", workspace, place)
    diff = diff_section(foreseen.before, foreseen.after, place.shown)
    shows = (diff,) if difference is None else difference()
    made = CallPreview((path, *shows), warnings=tuple(warnings), basis=basis(foreseen.before, foreseen.after))
    return with_rest(made, arguments, shown)


def diff_section(before: bytes | None, after: bytes | None, path: str) -> Section:
    """The whole difference of two contents of ``path``."""
    old, new = (None if each is None else _decoded(each, path)[1] for each in (before, after))
    if before == after:
        return Section("text", "change", "none: the file stays as it is")
    return Section("diff", "change", whole_diff(old, new, path))


def changes_made(arguments: Mapping[str, Any], context: Context) -> tuple[Workspace, list[Change]]:
    """The workspace, and the changes of the call's conversation that were not undone, oldest first: those of
    ``file_path`` alone, where ``arguments`` have one. Raises ``ToolFailure``."""
    workspace = workspace_of(context, arguments)
    made = workspace.checkpoints.changes(context.caller)
    if "file_path" in arguments:
        path = workspace.place(arguments["file_path"]).shown
        made = [each for each in made if each.path == path]
    return workspace, made


def content_now(workspace: Workspace, place: Place) -> bytes | None:
    """What the file at ``place`` holds now; ``None`` where there is none. Raises ``ToolFailure``."""
    from ....engines.workspace._pages import whole

    try:
        with workspace.open_file(place) as file:
            return whole(file, workspace.limits)
    except ToolFailure as failure:
        if failure.error_code != "file_not_found":
            raise
        return None


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
