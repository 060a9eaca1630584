"""``NotebookEdit``: a cell of a Jupyter notebook of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters, ToolFailure
from ._planning import not_while_planning
from ._tool import Definition, Options, references

if TYPE_CHECKING:
    from ....engines.definitions.call_preview import CallPreview, Section
    from ....engines.workspace.editing.notebooks import Notebook
    from ._changing import TextChange

DEFINITION = Definition(
    name="NotebookEdit",
    description=(
        "Change one cell of a Jupyter notebook (.ipynb) of the workspace, which has to be read in this "
        "conversation before: replace its source, insert a new cell, or delete it. Outputs of a changed cell "
        "are removed."
    ),
    properties={
        "notebook_path": {
            "type": "string",
            "description": "Path of the notebook: relative to the workspace, or absolute",
        },
        "cell_id": {
            "type": "string",
            "description": (
                "Id of the cell, as Read shows it. A new cell comes after it, or first when there is none"
            ),
        },
        "new_source": {"type": "string", "description": "The source of the cell"},
        "cell_type": {
            "type": "string",
            "enum": ["code", "markdown", "raw"],
            "description": "Type of the cell; a new one is code by default",
        },
        "edit_mode": {
            "type": "string",
            "enum": ["replace", "insert", "delete"],
            "description": "What to do; replace by default",
        },
    },
    required=("notebook_path",),
    destructive=True,
    approval=True,
    tags=("edits-files",),
)


_SHOWN = frozenset(("notebook_path", "cell_id", "new_source", "edit_mode", "cell_type"))


def _preview(arguments: dict[str, Any], context: Context) -> CallPreview:
    from ._changing import preview_text

    cells: list[_Cell] = []

    def difference() -> tuple[Section, ...]:
        return cells[-1].sections()

    return preview_text(context, _change(arguments, cells), arguments, _SHOWN, difference)


@handler("NotebookEdit", kind="internal", options=Options, references=references, preview=_preview)
@not_while_planning
def notebook_edit(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"notebook_path", "cell_id"?, "new_source"?, "cell_type"?, "edit_mode"?}`` → ``{"cell_id", …}``."""
    from ._changing import change_text

    cells: list[_Cell] = []
    done = change_text(context, arguments, _change(arguments, cells))
    return {
        "notebook_path": done["file_path"],
        "cell_id": cells[-1].id,
        "edit_mode": cells[-1].mode,
        "diff": done["diff"],
    }


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell as an edit changes it: its ``id``, what is done to it, its type then, and its source before and
    after; ``None`` where it is not there."""

    id: str
    mode: str
    type: str
    before: str | None
    after: str | None

    def sections(self) -> tuple[Section, ...]:
        """What is shown of it to a person."""
        from ....engines.definitions.call_preview import Section
        from ....engines.workspace.editing.diffs import whole_diff

        what = {"insert": "new", "delete": "deleted"}.get(self.mode, "replaced")
        told = f"{self.id}, {what}, of type {self.type}; its outputs are removed"
        if self.before == self.after:
            return (Section("code", "cell", told), Section("text", "source", "stays as it is"))
        diff = whole_diff(self.before, self.after, f"cell {self.id}")
        return (Section("code", "cell", told), Section("diff", "source", diff))


def _change(arguments: dict[str, Any], cells: list[_Cell]) -> TextChange:
    """The change that ``arguments`` ask for; the cell is added to ``cells``."""
    from ....engines.workspace.editing.notebooks import Notebook, NotNotebook
    from ._changing import TextChange

    mode: str = arguments.get("edit_mode", "replace")
    _check(arguments, mode)

    def changed(before: str, path: str) -> str:
        try:
            notebook = Notebook.parse(before)
            notebook.check_clear()
        except NotNotebook as fault:
            raise ToolFailure(
                f"{path} is no notebook that can be edited: {fault}",
                error_code="not_a_notebook",
                user_action="Change the file's text with Edit, or ask the person to repair the notebook.",
            ) from None
        cells.append(_edited(notebook, arguments, mode))
        return notebook.text

    return TextChange(arguments["notebook_path"], changed)


def _check(arguments: dict[str, Any], mode: str) -> None:
    faults: list[str] = []
    if mode != "insert" and "cell_id" not in arguments:
        faults.append(f"missing 'cell_id' (edit_mode is {mode})")
    if mode != "delete" and "new_source" not in arguments:
        faults.append(f"missing 'new_source' (edit_mode is {mode})")
    if faults:
        raise InvalidParameters(faults)


def _edited(notebook: Notebook, arguments: dict[str, Any], mode: str) -> _Cell:
    cell_id: str | None = arguments.get("cell_id")
    if mode == "insert":
        number = 0 if cell_id is None else notebook.index(cell_id) + 1
        source, sort = arguments["new_source"], arguments.get("cell_type", "code")
        return _Cell(notebook.insert(number, source, sort), mode, sort, None, source)
    number = notebook.index(cell_id or "")
    before, sort = notebook.source(number), str(notebook.cells[number].get("cell_type"))
    if mode == "delete":
        return _Cell(notebook.delete(number), mode, sort, before, None)
    changed = notebook.replace(number, arguments["new_source"], arguments.get("cell_type"))
    return _Cell(changed, mode, arguments.get("cell_type") or sort, before, arguments["new_source"])
