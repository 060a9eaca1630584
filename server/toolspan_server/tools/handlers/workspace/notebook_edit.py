"""``NotebookEdit``: a cell of a Jupyter notebook of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....calls.context import Context
from ....engines.registration import handler
from ....errors import InvalidParameters, ToolFailure
from ._planning import not_while_planning
from ._tool import Definition, Options, references

if TYPE_CHECKING:
    from ....engines.workspace.editing.notebooks import Notebook

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


@handler("NotebookEdit", kind="internal", options=Options, references=references)
@not_while_planning
def notebook_edit(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """``{"notebook_path", "cell_id"?, "new_source"?, "cell_type"?, "edit_mode"?}`` → ``{"cell_id", …}``."""
    from ....engines.workspace.editing.notebooks import Notebook, NotNotebook
    from ._changing import change_text

    mode: str = arguments.get("edit_mode", "replace")
    _check(arguments, mode)
    cell_id = ""

    def changed(before: str, path: str) -> str:
        nonlocal cell_id
        try:
            notebook = Notebook.parse(before)
            notebook.check_clear()
        except NotNotebook as fault:
            raise ToolFailure(
                f"{path} is no notebook that can be edited: {fault}",
                error_code="not_a_notebook",
                user_action="Change the file's text with Edit, or ask the person to repair the notebook.",
            ) from None
        cell_id = _edited(notebook, arguments, mode)
        return notebook.text

    done = change_text(context, arguments, arguments["notebook_path"], changed)
    return {
        "notebook_path": done["file_path"],
        "cell_id": cell_id,
        "edit_mode": mode,
        "diff": done["diff"],
    }


def _check(arguments: dict[str, Any], mode: str) -> None:
    faults: list[str] = []
    if mode != "insert" and "cell_id" not in arguments:
        faults.append(f"missing 'cell_id' (edit_mode is {mode})")
    if mode != "delete" and "new_source" not in arguments:
        faults.append(f"missing 'new_source' (edit_mode is {mode})")
    if faults:
        raise InvalidParameters(faults)


def _edited(notebook: Notebook, arguments: dict[str, Any], mode: str) -> str:
    cell_id: str | None = arguments.get("cell_id")
    if mode == "insert":
        number = 0 if cell_id is None else notebook.index(cell_id) + 1
        return notebook.insert(number, arguments["new_source"], arguments.get("cell_type", "code"))
    number = notebook.index(cell_id or "")
    if mode == "delete":
        return notebook.delete(number)
    return notebook.replace(number, arguments["new_source"], arguments.get("cell_type"))
