"""``Glob`` and ``Grep``: what is found, what is left out, and where they stop."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.workspaces import WorkspaceTools, workspace_tools, write_files
from toolspan_server.engines.workspace._patterns import Pattern

pytestmark = pytest.mark.requirement("I12.3.7")

FILES = {
    ".gitignore": "*.log\n/build/\n!keep.log\n# a comment\n\\#odd\ntmp/**\n",
    "a.py": "def one():\n    return 1\n",
    "keep.log": "kept\n",
    "drop.log": "one\n",
    "build/out.py": "one\n",
    "src/build/in.py": "one\n",
    "src/b.ts": "const one = 1;\nconst two = 2;\nconst three = 3;\n",
    "src/.gitignore": "local.*\n",
    "src/local.txt": "one\n",
    "src/deep/.hidden": "one\n",
    "tmp/x": "one\n",
    "#odd": "one\n",
    ".git/config": "one\n",
}
ONE, TWO, THREE = "b.ts:1:const one = 1;", "b.ts:2:const two = 2;", "b.ts:3:const three = 3;"
IGNORED = {".git/config", "#odd", "build/out.py", "drop.log", "src/local.txt", "tmp/x"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "ws", FILES)


@pytest.fixture
async def tools(folder: Path) -> AsyncIterator[WorkspaceTools]:
    async with workspace_tools(folder) as found:
        yield found


async def found(tools: WorkspaceTools, pattern: str, **more: Any) -> list[str]:
    result = await tools.good("Glob", pattern=pattern, **more)
    assert result["truncated"] is False
    files: list[str] = result["files"]
    return files


@pytest.mark.anyio
async def test_ignored_files_are_left_out_as_git_does(tools: WorkspaceTools) -> None:
    assert await found(tools, "**/*") == sorted(FILES.keys() - IGNORED)
    everything = await found(tools, "**", include_ignored=True)
    assert everything == sorted(FILES.keys() - {".git/config"})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("pattern", "path", "files"),
    [
        ("*.py", ".", ["a.py"]),
        ("**/*.py", ".", ["a.py", "src/build/in.py"]),
        ("src/*", ".", ["src/.gitignore", "src/b.ts"]),
        ("**/*.{ts,py}", "src", ["src/b.ts", "src/build/in.py"]),
        ("src/**/in.py", ".", ["src/build/in.py"]),
        ("**/**/**/**/b.ts", ".", ["src/b.ts"]),
        ("[a-c].p?", ".", ["a.py"]),
        ("[!b].py", ".", ["a.py"]),
        ("a[.py", ".", []),
        ("*/", ".", ["src/", "tmp/"]),
        ("**/de*/", ".", ["src/deep/"]),
        ("nothing", ".", []),
    ],
)
async def test_a_pattern_finds_what_it_names(
    tools: WorkspaceTools, pattern: str, path: str, files: list[str]
) -> None:
    assert await found(tools, pattern, path=path) == files


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"pattern": "../*"}, "'pattern' cannot be used: it leads upwards"),
        ({"pattern": ""}, "'pattern' cannot be used: it has 0 characters"),
        ({"pattern": "{a,b}" * 7}, "its braces give more than 64 patterns"),
        ({"pattern": "*", "path": "/etc"}, "outside_workspace: /etc is outside of the workspace"),
        ({"pattern": "*", "path": "none"}, "file_not_found: none does not exist"),
        ({"pattern": "*", "path": "a.py"}, "file_not_found: a.py does not exist"),
    ],
)
async def test_what_cannot_be_looked_for_is_said(
    tools: WorkspaceTools, arguments: dict[str, Any], told: str
) -> None:
    assert told in await tools.refused("Glob", **arguments)


@pytest.mark.anyio
async def test_links_are_found_and_not_followed(tools: WorkspaceTools, folder: Path) -> None:
    (folder / "src" / "up").symlink_to("..")
    (folder / "out").symlink_to("/etc")
    files = await found(tools, "**/*")
    assert [each for each in files if each.startswith(("src/up", "out"))] == ["out", "src/up"]
    lines = await tools.good("Grep", pattern="one", glob="*.py", output_mode="files_with_matches")
    assert lines["files"] == ["a.py", "src/build/in.py"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"results": 3}, "limits.results"),
        ({"entries": 5}, "limits.entries"),
        ({"seconds": 1e-9}, "limits.seconds"),
    ],
)
async def test_a_limit_ends_a_search_and_is_named(folder: Path, limits: dict[str, Any], named: str) -> None:
    async with workspace_tools(folder, limits=limits) as tools:
        for tool, arguments in (("Glob", {"pattern": "**/*"}), ("Grep", {"pattern": "."})):
            result = await tools.good(tool, **arguments)
            assert result["truncated"] is True
            assert result["truncated_by"].startswith(named)
            assert len(result["files"]) <= 5


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_read_is_passed_over(tools: WorkspaceTools, folder: Path) -> None:
    (folder / "src" / "deep").chmod(0)
    try:
        assert "a.py" in await found(tools, "**/*")
    finally:
        (folder / "src" / "deep").chmod(0o755)


@pytest.mark.anyio
async def test_the_lines_that_match_are_shown_with_their_places(tools: WorkspaceTools) -> None:
    result = await tools.good("Grep", pattern=r"return \d|three", output_mode="content", glob="*.{py,ts}")
    assert result["lines"] == ["a.py:2:    return 1", "src/b.ts:3:const three = 3;"]
    assert (result["files_searched"], result["truncated"]) == (3, False)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            {"pattern": "two", "context": 1},
            [ONE.replace(":", "-"), TWO, THREE.replace(":", "-")],
        ),
        ({"pattern": "one", "after": 1}, [ONE, TWO.replace(":", "-")]),
        ({"pattern": "three", "before": 1}, [TWO.replace(":", "-"), THREE]),
        ({"pattern": "one|three"}, [ONE, THREE]),
        ({"pattern": "ONE", "ignore_case": True}, [ONE]),
        ({"pattern": "^const t.*3;$"}, [THREE]),
        ({"pattern": r"1;\s+const"}, []),
        ({"pattern": r"1;\s+const", "multiline": True}, [ONE, TWO]),
        ({"pattern": "ne.*two", "multiline": True}, [ONE, TWO]),
    ],
)
async def test_what_is_around_a_match_is_shown_as_asked(
    tools: WorkspaceTools, arguments: dict[str, Any], lines: list[str]
) -> None:
    result = await tools.good("Grep", path="src/b.ts", output_mode="content", **arguments)
    assert result["lines"] == [f"src/{line}" for line in lines]


@pytest.mark.anyio
async def test_matches_that_are_apart_are_divided(tools: WorkspaceTools, folder: Path) -> None:
    write_files(folder, {"n.txt": "".join(f"{number}\n" for number in range(1, 10))})
    result = await tools.good("Grep", pattern="^[28]$", path="n.txt", output_mode="content", context=1)
    assert [line.partition("n.txt")[2] or line for line in result["lines"]] == [
        "-1-1", ":2:2", "-3-3", "--", "-7-7", ":8:8", "-9-9",
    ]  # fmt: skip


@pytest.mark.anyio
async def test_files_and_counts_are_given_where_they_are_asked_for(tools: WorkspaceTools) -> None:
    assert (await tools.good("Grep", pattern="const"))["files"] == ["src/b.ts"]
    counted = await tools.good("Grep", pattern="const|return", output_mode="count")
    assert counted["counts"] == {"a.py": 1, "src/b.ts": 3}
    assert (await tools.good("Grep", pattern="const", output_mode="content", limit=2))["truncated"] is True


@pytest.mark.anyio
async def test_text_in_other_encodings_is_searched_and_other_files_are_not(
    tools: WorkspaceTools, folder: Path
) -> None:
    odd = {"u.txt": "grün one\n".encode("utf-16"), "l.txt": b"gr\xfcn one\n", "b.bin": b"one\0\1\2"}
    write_files(folder, odd)
    os.mkfifo(folder / "pipe")
    result = await tools.good("Grep", pattern="one", glob="*.{txt,bin}", output_mode="content")
    assert result["lines"] == ["l.txt:1:gr�n one", "u.txt:1:grün one"]
    assert "pipe" not in (await tools.good("Grep", pattern="one"))["files"]


@pytest.mark.anyio
@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "x" * 1_001, ""])
async def test_a_pattern_that_is_none_is_refused(tools: WorkspaceTools, pattern: str) -> None:
    assert "'pattern' " in await tools.refused("Grep", pattern=pattern)


@pytest.mark.anyio
async def test_a_pattern_that_is_slow_elsewhere_and_large_files_are_bounded(folder: Path) -> None:
    write_files(folder, {"slow.txt": "a" * 100_000 + "!\n", "huge.txt": "one\n" * 100_000})
    async with workspace_tools(folder, limits={"search_file_bytes": 200_000, "line_characters": 10}) as tools:
        result = await tools.good("Grep", pattern="(a+)+$", glob="slow.txt", output_mode="content")
        assert result["lines"] == []
        result = await tools.good("Grep", pattern="a!", glob="*.txt", output_mode="content")
        assert result["lines"] == ["slow.txt:1:aaaaaaaaaa… [cut: 100,001 characters]"]
        assert result["too_large"] == ["huge.txt"]


NAMES = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=4)
PARTS = st.lists(
    st.one_of(
        st.just("**"),
        st.text("ab.*?", min_size=1, max_size=5).filter(lambda part: part not in (".", "..", "**")),
    ),
    min_size=1,
    max_size=4,
)


@given(path=NAMES, pattern=PARTS)
def test_a_pattern_matches_as_its_parts_do(path: list[str], pattern: list[str]) -> None:
    assert Pattern.of("/".join(pattern)).matches(path) == _matches(path, pattern)


def _matches(path: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def test_many_stars_cost_no_more_than_few() -> None:
    pattern = Pattern.of("**/" * 300 + "*a*a*a*a*a*a*b")
    assert not pattern.matches(["a" * 200] * 50)
