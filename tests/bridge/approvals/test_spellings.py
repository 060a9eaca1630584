"""The verdict of a rule about a path is that on the file which the tool opens, however it is spelled."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.workspaces import write_files
from toolspan_bridge.approvals import CallFiles, Pattern
from toolspan_server import ToolFailure
from toolspan_server.common.call_patterns import PathGlobs
from toolspan_server.engines.workspace import PathRule, Workspace
from toolspan_server.engines.workspace.opening.protection import path_of

pytestmark = pytest.mark.requirement("I24.2.2")

NAMES = [
    "secrets",
    "src",
    "a b",
    '"',
    "\\",
    "é",
    "e\u0301",
    "~",
    "..",
    ".",
    "",
    "key.txt",
    "link",
    "up",
    "Key.TXT",
]
KNOWN = ["secrets/key.txt", "src/key.txt", "src/secrets/key.txt", "a b/key.txt", "\\/key.txt", "é/key.txt",
         "e\u0301/key.txt", "~/key.txt", "key.txt", '"', "link/key.txt", "src/link", "src/up/key.txt",
         "src/up/link/key.txt"]  # fmt: skip
"""Paths at which there is a file, some through links."""

GLOBS = [
    "secrets/**",
    "src/*",
    "**/key.txt",
    "*",
    "**",
    "src/**/key.txt",
    '"/**',
    "é/**",
    "a b",
    "link/**",
    "~/x",
]
_ESCAPES = st.sampled_from(["{}", "\\x{:02x}", "\\u{:04x}", "\\U{:08x}"])


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as made:
        here = Path(made).resolve() / "work"
        write_files(here, dict.fromkeys(KNOWN[:-4], "text"))
        (here / "link").symlink_to("secrets")
        (here / "src/link").symlink_to("../secrets/key.txt")
        (here / "src/up").symlink_to("..")
        yield here


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A path of known names, some absolute, some in quotes with escapes."""
    known = st.sampled_from(KNOWN).map(lambda path: path.split("/"))
    parts = draw(st.one_of(known, known, st.lists(st.sampled_from(NAMES), min_size=1, max_size=5)))
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(["", ".", ".."])))
    path = draw(st.sampled_from(["", "./", "/", "FOLDER/", "FOLDER//"])) + "/".join(parts)
    if not draw(st.booleans()):
        return path
    return '"' + "".join(_escaped(character, draw(_ESCAPES)) for character in path) + '"'


def _escaped(character: str, escape: str) -> str:
    if escape == "{}":
        return {'"': '\\"', "\\": "\\\\"}.get(character, character)
    if escape.startswith("\\x"):
        return "".join(escape.format(byte) for byte in character.encode())
    return escape.format(ord(character))


@settings(max_examples=600, deadline=None)
@given(
    spelling=spellings(),
    globs=st.lists(st.sampled_from(GLOBS), min_size=1, max_size=2),
    tool=st.sampled_from(["Read", "Grep"]),
)
def test_whatever_a_tool_opens_is_judged_as_what_it_is(
    folder: Path, spelling: str, globs: list[str], tool: str
) -> None:
    spelling = spelling.replace("FOLDER", str(folder))
    workspace = Workspace(folder, folder.parent / "state.sqlite3")
    found = _opened(workspace, spelling)
    if found is None:
        return
    assert str(workspace.real_path(spelling)) == found, "what is described is what is opened"
    judge = PathGlobs(globs, [folder])
    called = ("server", tool, {"file_path": spelling}, CallFiles(folder, works_as=tool))
    pattern = Pattern(paths=globs)
    assert pattern.covers(*called) is judge.cover(found)
    assert pattern.touches(*called) is judge.touch(found)
    denied = workspace.held_to([PathRule("deny", judge, "")])
    if judge.touch(found):
        assert _opened(denied, spelling) is None, "the process that opens it denies it too"


def _opened(workspace: Workspace, spelling: str) -> str | None:
    """The path of the file that the workspace opens; ``None``: it opens none."""
    try:
        with workspace.open_file(workspace.place(spelling)) as file:
            return str(path_of(file.descriptor))
    except ToolFailure:
        return None
    finally:
        workspace.close()


def test_a_spelling_that_cannot_be_read_is_never_allowed_and_always_denied(folder: Path) -> None:
    for spelling in (r'"\q"', "\0", '"\\ud800"'):
        called = ("server", "Read", {"file_path": spelling}, CallFiles(folder, works_as="Read"))
        assert not Pattern(paths=["**"]).covers(*called)
        assert Pattern(paths=["nothing-of-that"]).touches(*called)


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "secrets/key.txt"},
        {"path": '"secrets/key.txt"'},
        {"uri": "file://FOLDER/secrets/key.txt"},
        {"uri": "file://FOLDER/%73ecrets/key.txt"},
        {"paths": ["src/key.txt", "secrets/key.txt"]},
        {"from": {"name": "secrets"}},
        {"source": "link/key.txt", "destination": "x"},
    ],
)
def test_a_tool_of_another_server_is_denied_what_any_argument_may_name(
    folder: Path, arguments: dict[str, object]
) -> None:
    given = json.loads(json.dumps(arguments).replace("FOLDER", str(folder)))
    assert Pattern(paths=["secrets/**"]).touches("files", "anything", given, CallFiles(folder))
    assert not Pattern(paths=["other/**"]).touches("files", "anything", given, CallFiles(folder))


def test_what_another_server_may_read_otherwise_is_not_allowed_by_its_first_reading(folder: Path) -> None:
    called = {"file_path": "src/link"}
    assert not Pattern(paths=["src/**"]).covers("files", "Read", called, CallFiles(folder))


def test_a_search_from_above_touches_what_a_rule_asks_about(folder: Path) -> None:
    def asks(tool: str, **arguments: str) -> bool:
        files = CallFiles(folder, works_as=tool)
        return Pattern(paths=["secrets/**"]).touches("server", tool, arguments, files, below=True)

    assert (
        asks("Grep", pattern="x") and asks("Glob", pattern="*", path=".") and asks("Grep", path=str(folder))
    )
    assert asks("Grep", path="secrets")
    assert not asks("Grep", path="src") and not asks("Read", file_path="src/key.txt")


def test_a_pattern_of_an_argument_that_is_a_path_sees_the_file_too(folder: Path) -> None:
    files = CallFiles(folder, works_as="Read")
    denied = Pattern(arguments={"file_path": "secrets/*"})
    for spelling in (
        "secrets/key.txt",
        '"secrets/key.txt"',
        "./secrets/key.txt",
        "link/key.txt",
        f"{folder}/secrets/key.txt",
    ):
        assert denied.touches("server", "Read", {"file_path": spelling}, files), spelling
    allowed = Pattern(arguments={"file_path": "src/*"})
    assert allowed.covers("server", "Read", {"file_path": "src/key.txt"}, files)
    assert not allowed.covers("server", "Read", {"file_path": "src/link"}, files), "it leads to secrets"


def test_the_folder_of_a_quoted_path_is_suggested_as_the_tool_reads_it(folder: Path) -> None:
    from toolspan_bridge.cli.terminal.approval.suggestion import suggested

    assert suggested({"file_path": '"src/key.txt"'}, CallFiles(folder, works_as="Read")) == "file_path=src/**"
    assert os.sep in suggested({"file_path": str(folder / "src/key.txt")}, CallFiles(folder))
