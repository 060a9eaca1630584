"""``Edit``: a part of a file is exchanged, and nothing else changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server import ToolFailure
from toolspan_server.engines.workspace.editing.diffs import unified
from toolspan_server.engines.workspace.editing.edits import Replacement, edited
from toolspan_server.engines.workspace.editing.text import NotText, encoding_of, newline_of, with_newline

pytestmark = pytest.mark.requirement("I12.3.6")

PIECES = st.text(st.sampled_from("ab \n\r\té日"), max_size=12)
PLAIN = st.text(st.sampled_from("ab \n\té日"), max_size=6)
CODECS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", {"a.py": "x = 1\ny = 2\nx = 1\n"})


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        await found.good("Read", file_path="a.py")
        yield found


@pytest.mark.anyio
async def test_the_one_match_is_replaced_and_the_diff_shows_it(tools: WorkspaceTools, folder: Path) -> None:
    done = await tools.good("Edit", file_path="a.py", old_string="y = 2", new_string="y = 3")
    assert done == {
        "file_path": "a.py",
        "replacements": 1,
        "diff": "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n x = 1\n-y = 2\n+y = 3\n x = 1\n",
    }
    assert (folder / "a.py").read_text() == "x = 1\ny = 3\nx = 1\n"


@pytest.mark.anyio
async def test_all_matches_are_replaced_when_that_is_asked_for(tools: WorkspaceTools, folder: Path) -> None:
    done = await tools.good("Edit", file_path="a.py", old_string="x", new_string="z", replace_all=True)
    assert done["replacements"] == 2
    assert (folder / "a.py").read_text() == "z = 1\ny = 2\nz = 1\n"


@pytest.mark.anyio
async def test_several_edits_are_made_one_after_another(tools: WorkspaceTools, folder: Path) -> None:
    edits = [
        {"old_string": "y = 2", "new_string": "y = 20"},
        {"old_string": "y = 20", "new_string": "y = 200"},
        {"old_string": "x = 1", "new_string": "", "replace_all": True},
    ]
    assert (await tools.good("Edit", file_path="a.py", edits=edits))["replacements"] == 4
    assert (folder / "a.py").read_text() == "\ny = 200\n\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"old_string": "q", "new_string": "r"}, "no_match: a.py: old_string does not occur in the file"),
        ({"old_string": "x  = 1\ny", "new_string": "r"}, "only its white space differs"),
        ({"old_string": "Y = 2", "new_string": "r"}, "only its case differs"),
        ({"old_string": "     2\ty = 2", "new_string": "r"}, "it seems to hold line numbers"),
        (
            {"old_string": "x = 1", "new_string": "r"},
            "ambiguous_match: a.py: old_string occurs 2 times (lines 1, 3",
        ),
        ({"old_string": "y", "new_string": "y"}, "old_string and new_string are the same"),
        ({"old_string": "", "new_string": "y"}, "old_string is empty"),
        ({"old_string": "y"}, "missing 'new_string'"),
        ({}, "missing 'old_string' (or 'edits')"),
        ({"old_string": "y", "edits": [{"old_string": "a", "new_string": "b"}]}, "give either"),
        (
            {"edits": [{"old_string": "y", "new_string": "z"}, {"old_string": "y", "new_string": "q"}]},
            "a.py, edit 2 of 2: old_string does not occur",
        ),
    ],
)
async def test_what_does_not_fit_is_said_and_nothing_is_changed(
    tools: WorkspaceTools, folder: Path, arguments: dict[str, Any], told: str
) -> None:
    assert told in await tools.refused("Edit", file_path="a.py", **arguments)
    assert (folder / "a.py").read_text() == "x = 1\ny = 2\nx = 1\n"
    assert await tools.good("Changes") == {"files": []}


@pytest.mark.anyio
async def test_a_file_has_to_be_read_and_be_as_it_was_read(tools: WorkspaceTools, folder: Path) -> None:
    change = {"file_path": "a.py", "old_string": "y", "new_string": "z"}
    assert (await tools.refused("Edit", "another conversation", **change)).startswith("not_read: ")
    (folder / "a.py").write_text("y\n")
    assert (await tools.refused("Edit", **change)).startswith("changed_since_read: ")
    assert (folder / "a.py").read_text() == "y\n"
    assert (await tools.refused("Edit", **{**change, "file_path": "b.py"})).startswith("file_not_found: ")


@pytest.mark.anyio
@pytest.mark.parametrize("data", [b"\x00\x01\x02 y \x00", b"\xff\xfe\x00\xd8 y"])
async def test_what_is_no_text_is_not_edited(tools: WorkspaceTools, folder: Path, data: bytes) -> None:
    write_files(folder, {"b.bin": data})
    await tools.result("Read", file_path="b.bin")
    assert not (await tools.result("Edit", file_path="b.bin", old_string="y", new_string="z")).success
    assert (folder / "b.bin").read_bytes() == data


@pytest.mark.anyio
async def test_of_concurrent_edits_each_is_applied_or_refused(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"n.txt": "".join(f"<{number}>\n" for number in range(20))})
    await tools.good("Read", file_path="n.txt")
    results: dict[int, bool] = {}

    async def replace(number: int) -> None:
        result = await tools.result(
            "Edit", file_path="n.txt", old_string=f"<{number}>", new_string=f"[{number}]"
        )
        results[number] = result.success

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(replace, number)
    text = (folder / "n.txt").read_text()
    assert len(results) == 20
    assert any(results.values())
    for number, applied in results.items():
        assert (f"[{number}]" in text, f"<{number}>" in text) == (applied, not applied)


@pytest.mark.anyio
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
async def test_encoding_mark_ends_of_lines_and_the_last_line_stay(
    tools: WorkspaceTools, folder: Path, codec: str, newline: str
) -> None:
    text = newline.join(["erste Zeile é", "zweite", "dritte"])
    write_files(folder, {"t.txt": text.encode(codec)})
    await tools.good("Read", file_path="t.txt")
    change = {"old_string": "é\nzweite", "new_string": "é\nneu\n2"}
    await tools.good("Edit", file_path="t.txt", **change)
    expected = newline.join(["erste Zeile é", "neu", "2", "dritte"])
    assert (folder / "t.txt").read_bytes() == expected.encode(codec)


@given(before=PIECES, old=PIECES, new=PIECES, after=PIECES)
def test_only_the_match_changes(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    try:
        changed, count = edited(text, [Replacement(old, new)], "f")
    except ToolFailure as failure:
        assert failure.error_code in ("no_match", "ambiguous_match", "invalid_parameters")
        return
    assert count == 1
    places = [at for at in range(len(text) + 1) if changed.startswith(text[:at])]
    ends = [at for at in range(len(text) + 1) if changed.endswith(text[at:])]
    assert any(
        with_newline(text[start:end], "\n") == with_newline(old, "\n") for start in places for end in ends
    )


@given(parts=st.lists(PLAIN, min_size=2, max_size=4), old=PLAIN.filter(bool), new=PLAIN)
def test_replacing_all_is_what_replacing_in_a_text_of_line_feeds_is(
    parts: list[str], old: str, new: str
) -> None:
    assume(old != new)
    text = old.join(parts)
    changed, count = edited(text, [Replacement(old, new, everywhere=True)], "f")
    assert (changed, count) == (text.replace(old, new), text.count(old))


@given(st.binary(max_size=60))
def test_any_file_is_read_as_text_that_gives_the_same_bytes_or_is_no_text(data: bytes) -> None:
    try:
        encoding = encoding_of(data)
        text = encoding.decoded(data)
    except NotText:
        return
    assert encoding.encoded(text) == data


@given(before=PIECES, after=PIECES)
def test_a_diff_turns_one_text_into_the_other(before: str, after: str) -> None:
    lines = unified(before, after, "f", 100_000).splitlines()
    assert lines[:2] == ["--- f", "+++ f"]
    old = [line[1:] for line in lines[2:] if line[:1] in (" ", "-")]
    new = [line[1:] for line in lines[2:] if line[:1] in (" ", "+")]
    assert "\n".join(old) in "\n".join(before.splitlines())
    assert "\n".join(new) in "\n".join(after.splitlines())
    assert (old == new) == (before.splitlines() == after.splitlines())


def test_a_large_diff_is_bounded_in_work_and_size() -> None:
    before = "".join(f"{number}\n" for number in range(100_000))
    after = "".join(f"{number} {number}\n" for number in range(100_000))
    diff = unified(before, after, "f", 5_000)
    assert len(diff) < 5_200
    assert "[cut: the diff has " in diff


@pytest.mark.parametrize(("text", "newline"), [("", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb", "\r")])
def test_the_usual_end_of_line_is_that_of_most_lines(text: str, newline: str) -> None:
    assert newline_of(text) == newline
