"""``NotebookEdit``: cells of a notebook change, and it stays a valid one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import ToolFailure
from toolspan_server.engines.workspace.editing.notebooks import Notebook

pytestmark = pytest.mark.requirement("I12.3.9")

NAME = "n.ipynb"
KEYS = {
    "code": {"cell_type", "execution_count", "metadata", "outputs", "source"},
    "markdown": {"cell_type", "metadata", "source"},
    "raw": {"cell_type", "metadata", "source"},
}
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Título\n", "text"]},
    {
        "cell_type": "code",
        "execution_count": 3,
        "id": "sum",
        "metadata": {"tags": ["x"]},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": ["2\n"]}],
        "source": ["print(1 + 1)"],
    },
]


def notebook(minor: int = 5, cells: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    kept = json.loads(json.dumps(CELLS if cells is None else cells))
    if minor < 5:
        for cell in kept:
            del cell["id"]
    return {
        "cells": kept,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": minor,
    }


def assert_valid(data: dict[str, Any]) -> None:
    """Check ``data`` by the rules of nbformat 4 for cells."""
    ids = [cell["id"] for cell in data["cells"] if "id" in cell]
    assert len(ids) == (len(data["cells"]) if data["nbformat_minor"] >= 5 else 0)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in ids)
    for cell in data["cells"]:
        assert cell.keys() - {"id", "attachments"} == KEYS[cell["cell_type"]]
        assert "attachments" not in cell or cell["cell_type"] != "code"
        source = cell["source"]
        assert isinstance(source, str) or all(isinstance(line, str) for line in source)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = json.dumps(notebook(), indent=1, ensure_ascii=False) + "\n"
    return write_files(tmp_path / "ws", {NAME: text})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        await found.good("Read", file_path=NAME)
        yield found


async def edit(tools: WorkspaceTools, **arguments: Any) -> Any:
    return await tools.good("NotebookEdit", notebook_path=NAME, **arguments)


@pytest.mark.anyio
async def test_a_cell_is_replaced_and_its_outputs_are_gone(tools: WorkspaceTools, folder: Path) -> None:
    before = (folder / NAME).read_text()
    done = await edit(tools, cell_id="sum", new_source="a = 1\nprint(a)")
    assert (done["cell_id"], done["edit_mode"]) == ("sum", "replace")
    assert '+    "a = 1\\n",' in done["diff"]
    after = json.loads((folder / NAME).read_text())
    assert after["cells"][1] == {
        **CELLS[1],
        "source": ["a = 1\n", "print(a)"],
        "outputs": [],
        "execution_count": None,
    }
    assert_valid(after)
    assert (folder / NAME).read_text().splitlines()[:8] == before.splitlines()[:8]
    assert (folder / NAME).read_text().endswith("}\n")


@pytest.mark.anyio
async def test_cells_are_inserted_and_deleted(tools: WorkspaceTools, folder: Path) -> None:
    first = await edit(tools, new_source="first", cell_type="markdown", edit_mode="insert")
    after = await edit(tools, cell_id="intro", new_source="x = 1", edit_mode="insert")
    data = json.loads((folder / NAME).read_text())
    assert [cell["id"] for cell in data["cells"]] == [first["cell_id"], "intro", after["cell_id"], "sum"]
    assert [cell["cell_type"] for cell in data["cells"]] == ["markdown", "markdown", "code", "code"]
    assert_valid(data)
    await edit(tools, cell_id="intro", edit_mode="delete")
    left = json.loads((folder / NAME).read_text())["cells"]
    assert [cell["id"] for cell in left] == [
        first["cell_id"],
        after["cell_id"],
        "sum",
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"cell_id": "none", "new_source": ""},
            "The notebook has no cell 'none' (known: intro, sum)",
        ),
        ({"new_source": "x"}, "missing 'cell_id' (edit_mode is replace)"),
        ({"cell_id": "sum"}, "missing 'new_source' (edit_mode is replace)"),
        ({"edit_mode": "insert"}, "missing 'new_source' (edit_mode is insert)"),
        ({"edit_mode": "move", "cell_id": "sum"}, "edit_mode"),
    ],
)
async def test_what_does_not_fit_is_said_and_nothing_is_changed(
    tools: WorkspaceTools, folder: Path, arguments: dict[str, Any], told: str
) -> None:
    before = (folder / NAME).read_bytes()
    assert told in await tools.refused("NotebookEdit", notebook_path=NAME, **arguments)
    assert (folder / NAME).read_bytes() == before


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is no JSON object"),
        ('{"nbformat": 3, "worksheets": []}', "its nbformat is 3, not 4"),
        ('{"nbformat": 4, "cells": [{}]}', "its cells are not as nbformat 4 has them"),
        ("[" * 100_000, "it is no JSON"),
    ],
)
async def test_what_is_no_notebook_is_not_edited(
    tools: WorkspaceTools, folder: Path, text: str, why: str
) -> None:
    write_files(folder, {NAME: text})
    await tools.good("Read", file_path=NAME)
    refused = await tools.refused("NotebookEdit", notebook_path=NAME, cell_id="sum", new_source="x")
    assert refused.startswith("not_a_notebook: ")
    assert why in refused
    assert (folder / NAME).read_text() == text


@pytest.mark.anyio
async def test_a_notebook_has_to_be_read_before(tools: WorkspaceTools) -> None:
    change = {"notebook_path": NAME, "cell_id": "sum", "new_source": "x"}
    assert (await tools.refused("NotebookEdit", "other", **change)).startswith("not_read: ")


@pytest.mark.parametrize(
    "text",
    [json.dumps(notebook()), json.dumps(notebook(), indent=2), json.dumps(notebook(), indent="\t") + "\n"],
)
def test_what_is_inserted_and_deleted_leaves_a_notebook_as_it_was(text: str) -> None:
    edited = Notebook.parse(text)
    for number in (0, 1, 2):
        edited.insert(number, "x", "code")
        assert edited.text != text and json.loads(edited.text) == edited.data
        edited.delete(number)
        assert edited.text == text


OPERATIONS = st.tuples(
    st.sampled_from(["replace", "insert", "delete"]),
    st.integers(0, 5),
    st.sampled_from(["code", "markdown", "raw", None]),
    st.text(max_size=20),
)


@given(st.sampled_from([4, 5]), st.lists(OPERATIONS, max_size=8))
def test_after_any_edits_it_is_valid_and_says_what_was_put_in(minor: int, operations: list[Any]) -> None:
    edited = Notebook.parse(json.dumps(notebook(minor)))
    for mode, number, cell_type, source in operations:
        count = len(edited.cells)
        if mode == "insert":
            cell_id = edited.insert(min(number, count), source, cell_type or "code")
        elif number >= count:
            with pytest.raises(ToolFailure):
                edited.index(f"cell-{number}")
            continue
        elif mode == "delete":
            edited.delete(number)
            continue
        else:
            cell_id = edited.replace(number, source, cell_type)
        found = edited.cells[edited.index(cell_id)]["source"]
        assert "".join(found) == source
    assert json.loads(edited.text) == edited.data
    assert_valid(json.loads(edited.text))


_ODD = """{
 "cells": [
  {"cell_type": "raw", "id": "a", "metadata": {"n": 1e400, "m": 1.10, "big": 12345678901234567890, "x": NaN},
   "source": []},
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "b",
   "metadata": {"kept": 0.100, "s": "\\ud800\\u00e9", "deep": {"k":[1,2]}},
   "outputs": [],
   "source": ["x"],
   "unknown": -0.0
  }
 ],
 "metadata": {"n": 1.0e+2, "\\u0061": "\\/"},
 "nbformat": 4,   "nbformat_minor": 5
}
"""


@pytest.mark.requirement("I24.6.4")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_edit_changes_no_character_beyond_its_cell(newline: str) -> None:
    before = _ODD.replace("\n", newline)
    edited = Notebook.parse(before)
    edited.check_clear()
    edited.replace(edited.index("b"), "y = 1\nz", None)
    expected = _ODD.replace('"execution_count": 7', '"execution_count": null').replace(
        '["x"]', '[\n    "y = 1\\n",\n    "z"\n   ]'
    )
    assert edited.text == expected.replace("\n", newline)
    inserted = Notebook.parse(before)
    inserted.insert(2, "last", "markdown")
    inserted.delete(2)
    inserted.insert(0, "first", "markdown")
    inserted.delete(0)
    assert inserted.text == before


@pytest.mark.requirement("I24.6.4")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"id": "sum"', '"id": "intro"', "several of its cells have the id 'intro'"),
        ('"nbformat": 4', '"nbformat": 4, "metadata": {"other": 1}', "a key twice ('metadata')"),
        ('"tags": ["x"]', '"tags": ["x"], "tags": []', "a key twice ('tags')"),
        ('"source": ["print', '"source": [], "source": ["print', "a key twice ('source')"),
        ('"id": "sum"', '"id": 7', ""),
        ('"id": "sum", ', "", ""),
    ],
)
async def test_a_notebook_that_says_two_things_is_refused_and_not_changed(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = json.dumps(notebook())
    assert old in text
    folder = write_files(tmp_path / "ws", {NAME: text.replace(old, new)})
    for arguments in (
        {"cell_id": "intro", "new_source": "x"},
        {"cell_id": "intro", "edit_mode": "delete"},
        {"new_source": "x", "edit_mode": "insert"},
    ):
        async with workspace_tools(folder) as tools:
            await tools.good("Read", file_path=NAME)
            result = await tools.result("NotebookEdit", notebook_path=NAME, **arguments)
        if told:
            assert not result.success and told in str(result.error)
            assert (folder / NAME).read_text() == text.replace(old, new)
        else:
            assert result.success, "a cell without an id of its own is known by its number"
