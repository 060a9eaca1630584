"""``Write``: a file of the workspace, new or whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.registration import handler
from ._planning import not_while_planning
from ._tool import Definition, Options, references

if TYPE_CHECKING:
    from ....engines.definitions.call_preview import CallPreview
    from ._changing import TextChange

DEFINITION = Definition(
    name="Write",
    description=(
        "Write a whole file of the workspace, and the folders above it. A file that exists has to be read in "
        "this conversation before. Use Edit to change a part of a file."
    ),
    properties={
        "file_path": {
            "type": "string",
            "description": "Path of the file: relative to the workspace, or absolute",
        },
        "content": {"type": "string", "description": "The whole text of the file"},
        "force": {
            "type": "boolean",
            "description": "Overwrite a file that was not read in this conversation, or changed since",
        },
    },
    required=("file_path", "content"),
    destructive=True,
    idempotent=True,
    sequential=True,
    approval=True,
    tags=("edits-files",),
)


def _preview(arguments: dict[str, Any], context: Context) -> CallPreview:
    from ._changing import preview_text

    return preview_text(context, _change(arguments), arguments, frozenset(("file_path", "content")))


@handler("Write", kind="internal", options=Options, references=references, preview=_preview)
@not_while_planning
def write(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"file_path", "content", "force"?}`` → ``{"file_path", "created", "bytes", "diff"}``."""
    from ._changing import change_text

    return change_text(context, arguments, _change(arguments))


def _change(arguments: dict[str, Any]) -> TextChange:
    from ....engines.workspace.editing.text import newline_of, with_newline
    from ._changing import TextChange

    content: str = arguments["content"]

    def whole(before: str, _path: str) -> str:
        usual = newline_of(before)
        return with_newline(content, usual) if usual != "\n" and "\r" not in content else content

    return TextChange(arguments["file_path"], whole, existing=False, force=arguments.get("force", False))
