"""``Edit``: parts of a file of the workspace, replaced by others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters
from ._planning import not_while_planning
from ._tool import Definition, Options, references

if TYPE_CHECKING:
    from ....engines.definitions.call_preview import CallPreview
    from ....engines.workspace.editing.edits import Replacement
    from ._changing import TextChange

_OLD = {
    "type": "string",
    "description": "The text to replace, exactly as in the file, without line numbers",
}
_NEW = {"type": "string", "description": "The text to put in its place"}
_ALL = {"type": "boolean", "description": "Replace each occurrence; without it there has to be exactly one"}

DEFINITION = Definition(
    name="Edit",
    description=(
        "Replace text in a file of the workspace, which has to be read in this conversation before. "
        "old_string has to occur exactly once, unless replace_all is set. Several edits of one file go into "
        "edits: they are made one after another, all or none."
    ),
    properties={
        "file_path": {
            "type": "string",
            "description": "Path of the file: relative to the workspace, or absolute",
        },
        "old_string": _OLD,
        "new_string": _NEW,
        "replace_all": _ALL,
        "edits": {
            "type": "array",
            "description": "Several edits instead of old_string and new_string",
            "minItems": 1,
            "maxItems": 100,
            "items": {
                "type": "object",
                "properties": {"old_string": _OLD, "new_string": _NEW, "replace_all": _ALL},
                "required": ["old_string", "new_string"],
                "additionalProperties": False,
            },
        },
    },
    required=("file_path",),
    destructive=True,
    approval=True,
    tags=("edits-files",),
)


def _preview(arguments: dict[str, Any], context: Context) -> CallPreview:
    from ._changing import preview_text

    shown = frozenset(("file_path", "old_string", "new_string", "replace_all", "edits"))
    return preview_text(context, _change(arguments, []), arguments, shown)


@handler("Edit", kind="internal", options=Options, references=references, preview=_preview)
@not_while_planning
def edit(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"file_path", "old_string", "new_string", "replace_all"?}`` → ``{…, "replacements", "diff"}``."""
    from ._changing import change_text

    counts: list[int] = []
    done = change_text(context, arguments, _change(arguments, counts))
    return {"file_path": done["file_path"], "replacements": counts[-1], "diff": done["diff"]}


def _change(arguments: dict[str, Any], counts: list[int]) -> TextChange:
    """The change that ``arguments`` ask for; how many replacements it makes is added to ``counts``."""
    from ....engines.workspace.editing.edits import edited
    from ._changing import TextChange

    wanted = _replacements(arguments)

    def changed(before: str, path: str) -> str:
        after, count = edited(before, wanted, path)
        counts.append(count)
        return after

    return TextChange(arguments["file_path"], changed)


def _replacements(arguments: dict[str, Any]) -> list[Replacement]:
    from ....engines.workspace.editing.edits import Replacement

    single = {name: arguments[name] for name in ("old_string", "new_string") if name in arguments}
    several: list[dict[str, Any]] | None = arguments.get("edits")
    if several is not None and single:
        raise InvalidParameters(["give either 'old_string' and 'new_string', or 'edits'"])
    if several is None and len(single) < 2:
        missing = next(name for name in ("old_string", "new_string") if name not in single)
        raise InvalidParameters([f"missing '{missing}' (or 'edits')"])
    given = [arguments] if several is None else several
    return [
        Replacement(each["old_string"], each["new_string"], each.get("replace_all", False)) for each in given
    ]
